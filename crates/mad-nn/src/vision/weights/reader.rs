//! The stack on which a pickle works.

use std::collections::HashMap;

use super::pickle::{Fault, MOST_VALUES, Value};

/// The bytes of a pickle, and the values that wait for their instruction.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
    pub(super) stack: Vec<Value>,
    pub(super) marks: Vec<usize>,
    pub(super) memo: HashMap<u32, Value>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, stack: Vec::new(), marks: Vec::new(), memo: HashMap::new() }
    }

    pub(super) fn fault<T>(&self, problem: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::At(self.at, problem.into()))
    }

    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        match self.bytes.get(self.at..).and_then(|rest| rest.get(..count)) {
            Some(taken) => {
                self.at += count;
                Ok(taken)
            }
            None => self.fault("it ends too early"),
        }
    }

    pub(super) fn byte(&mut self) -> Result<u8, Fault> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn number(&mut self, width: usize) -> Result<usize, Fault> {
        let bytes = self.take(width)?;
        let number = bytes.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
        usize::try_from(number).or_else(|_| self.fault("a length beyond memory"))
    }

    pub(super) fn text(&mut self, length: usize) -> Result<String, Fault> {
        let bytes = self.take(length)?;
        String::from_utf8(bytes.to_vec()).or_else(|_| self.fault("a text that is not UTF-8"))
    }

    pub(super) fn line(&mut self) -> Result<String, Fault> {
        let rest = &self.bytes[self.at..];
        match rest.iter().position(|&byte| byte == b'\n') {
            Some(end) => {
                let line = self.text(end)?;
                self.at += 1;
                Ok(line)
            }
            None => self.fault("it ends too early"),
        }
    }

    pub(super) fn push(&mut self, value: Value) -> Result<(), Fault> {
        if self.stack.len() >= MOST_VALUES {
            return self.fault("too many values");
        }
        self.stack.push(value);
        Ok(())
    }

    pub(super) fn pop(&mut self) -> Result<Value, Fault> {
        if self.marks.last().is_some_and(|&mark| mark >= self.stack.len()) {
            return self.fault("a value is missing");
        }
        self.stack.pop().map_or_else(|| self.fault("a value is missing"), Ok)
    }

    /// The last `count` values in the order in which they were pushed.
    pub(super) fn pop_last(&mut self, count: usize) -> Result<Vec<Value>, Fault> {
        let mut items = (0..count).map(|_| self.pop()).collect::<Result<Vec<_>, _>>()?;
        items.reverse();
        Ok(items)
    }

    pub(super) fn peek(&self) -> Result<Value, Fault> {
        self.stack.last().copied().map_or_else(|| self.fault("a value is missing"), Ok)
    }

    pub(super) fn pop_to_mark(&mut self) -> Result<Vec<Value>, Fault> {
        match self.marks.pop() {
            Some(mark) if mark <= self.stack.len() => Ok(self.stack.split_off(mark)),
            _ => self.fault("a mark is missing"),
        }
    }

    pub(super) fn remember(&mut self, place: u32) -> Result<(), Fault> {
        if self.memo.len() >= MOST_VALUES {
            return self.fault("too many values");
        }
        let value = self.peek()?;
        self.memo.insert(place, value);
        Ok(())
    }

    pub(super) fn recall(&mut self, place: u32) -> Result<(), Fault> {
        match self.memo.get(&place) {
            Some(&value) => self.push(value),
            None => self.fault("a value that was not remembered"),
        }
    }
}
