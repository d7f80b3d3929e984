//! A reader of pickles that hold lists of tensors, and of no others.
//!
//! # Reference
//! Instructions: `pickletools` of Python's standard library, protocols 2 to 5. Names: `torch/serialization.py` and
//! `torch/_utils.py` of PyTorch.

use std::collections::HashMap;

use super::numbers::Kind;

/// Largest pickle; those of ResNets have a few tens of kilobytes.
pub(super) const LARGEST: usize = 64 << 20;

/// Values a pickle may make.
const MOST_VALUES: usize = 1 << 22;

/// What is wrong with a pickle.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It names something that is not allowed.
    Global(String),
    /// Anything else, and where.
    At(usize, String),
}

/// A value. Those that hold others are numbers of places in [`Pickle`], so that nothing nests.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    None,
    Bool(bool),
    Int(i128),
    Float,
    Text(usize),
    Tuple(usize),
    List(usize),
    Dict(usize),
    Global(Global),
    Storage(usize),
    Tensor(usize),
}

/// The names that are allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Global {
    OrderedDict,
    RebuildTensor,
    RebuildParameter,
    Storage(Kind),
}

fn global(module: &str, name: &str) -> Result<Global, Fault> {
    let storage = |kind| Ok(Global::Storage(kind));
    match (module, name) {
        ("collections", "OrderedDict") => Ok(Global::OrderedDict),
        ("torch._utils", "_rebuild_tensor_v2") => Ok(Global::RebuildTensor),
        ("torch._utils", "_rebuild_parameter") => Ok(Global::RebuildParameter),
        ("torch", "FloatStorage") => storage(Kind::Single),
        ("torch", "DoubleStorage") => storage(Kind::Double),
        ("torch", "HalfStorage") => storage(Kind::Half),
        ("torch", "BFloat16Storage") => storage(Kind::Brain),
        ("torch", "LongStorage") => storage(Kind::Whole(8)),
        ("torch", "IntStorage") => storage(Kind::Whole(4)),
        ("torch", "ShortStorage") => storage(Kind::Whole(2)),
        ("torch", "CharStorage" | "ByteStorage" | "BoolStorage") => storage(Kind::Whole(1)),
        _ => Err(Fault::Global(format!("{module}.{name}"))),
    }
}

/// Numbers that lie outside the pickle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Storage {
    pub(super) kind: Kind,
    pub(super) key: String,
    pub(super) length: usize,
}

/// A view of a storage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct View {
    pub(super) storage: usize,
    pub(super) offset: usize,
    pub(super) shape: Vec<usize>,
    pub(super) strides: Vec<usize>,
}

/// Everything that pickles have made so far.
#[derive(Debug, Default)]
pub(super) struct Pickle {
    pub(super) texts: Vec<String>,
    pub(super) lists: Vec<Vec<Value>>,
    pub(super) dicts: Vec<Vec<(Value, Value)>>,
    pub(super) storages: Vec<Storage>,
    pub(super) views: Vec<View>,
    /// Values held by lists and dicts.
    held: usize,
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    stack: Vec<Value>,
    marks: Vec<usize>,
    memo: HashMap<u32, Value>,
}

impl<'a> Reader<'a> {
    fn fault<T>(&self, problem: impl Into<String>) -> Result<T, Fault> {
        Err(Fault::At(self.at, problem.into()))
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        match self.bytes.get(self.at..).and_then(|rest| rest.get(..count)) {
            Some(taken) => {
                self.at += count;
                Ok(taken)
            }
            None => self.fault("it ends too early"),
        }
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        Ok(self.take(1)?[0])
    }

    fn number(&mut self, width: usize) -> Result<usize, Fault> {
        let bytes = self.take(width)?;
        let number = bytes.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
        usize::try_from(number).or_else(|_| self.fault("a length beyond memory"))
    }

    fn text(&mut self, length: usize) -> Result<String, Fault> {
        let bytes = self.take(length)?;
        String::from_utf8(bytes.to_vec()).or_else(|_| self.fault("a text that is not UTF-8"))
    }

    fn line(&mut self) -> Result<String, Fault> {
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

    fn push(&mut self, value: Value) -> Result<(), Fault> {
        if self.stack.len() >= MOST_VALUES {
            return self.fault("too many values");
        }
        self.stack.push(value);
        Ok(())
    }

    fn pop(&mut self) -> Result<Value, Fault> {
        if self.marks.last().is_some_and(|&mark| mark >= self.stack.len()) {
            return self.fault("a value is missing");
        }
        self.stack.pop().map_or_else(|| self.fault("a value is missing"), Ok)
    }

    fn peek(&self) -> Result<Value, Fault> {
        self.stack.last().copied().map_or_else(|| self.fault("a value is missing"), Ok)
    }

    fn pop_to_mark(&mut self) -> Result<Vec<Value>, Fault> {
        match self.marks.pop() {
            Some(mark) if mark <= self.stack.len() => Ok(self.stack.split_off(mark)),
            _ => self.fault("a mark is missing"),
        }
    }

    fn remember(&mut self, place: u32) -> Result<(), Fault> {
        if self.memo.len() >= MOST_VALUES {
            return self.fault("too many values");
        }
        let value = self.peek()?;
        self.memo.insert(place, value);
        Ok(())
    }

    fn recall(&mut self, place: u32) -> Result<(), Fault> {
        match self.memo.get(&place) {
            Some(&value) => self.push(value),
            None => self.fault("a value that was not remembered"),
        }
    }
}

impl Pickle {
    /// Runs the pickle at the start of `bytes` and returns its value and its length.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<(Value, usize), Fault> {
        let mut reader = Reader { bytes, at: 0, stack: Vec::new(), marks: Vec::new(), memo: HashMap::new() };
        loop {
            if reader.at > LARGEST {
                return reader.fault("it is too long");
            }
            if let Some(value) = self.step(&mut reader)? {
                return Ok((value, reader.at));
            }
        }
    }

    /// One instruction; the value of the whole at the last one.
    fn step(&mut self, reader: &mut Reader) -> Result<Option<Value>, Fault> {
        let code = reader.byte()?;
        match code {
            0x80 => match reader.byte()? {
                2..=5 => {}
                protocol => return reader.fault(format!("protocol {protocol} is not known")),
            },
            // A frame only says how long the next part is.
            0x95 => {
                reader.take(8)?;
            }
            b'.' => return reader.pop().map(Some),
            b'(' => {
                if reader.marks.len() >= MOST_VALUES {
                    return reader.fault("too many marks");
                }
                reader.marks.push(reader.stack.len());
            }
            b'N' => reader.push(Value::None)?,
            0x88 => reader.push(Value::Bool(true))?,
            0x89 => reader.push(Value::Bool(false))?,
            b'J' => {
                let number = reader.number(4)? as u32 as i32;
                reader.push(Value::Int(number.into()))?;
            }
            b'K' => self.whole(reader, 1)?,
            b'M' => self.whole(reader, 2)?,
            0x8a => {
                let length = usize::from(reader.byte()?);
                if length > 15 {
                    return reader.fault("a number beyond all sizes");
                }
                let bytes = reader.take(length)?;
                let negative = bytes.last().is_some_and(|&byte| byte >= 0x80);
                let start = if negative { -1 } else { 0 };
                let number = bytes.iter().rev().fold(start, |number: i128, &byte| number << 8 | i128::from(byte));
                reader.push(Value::Int(number))?;
            }
            b'G' => {
                reader.take(8)?;
                reader.push(Value::Float)?;
            }
            b'X' | b'T' => self.text(reader, 4)?,
            0x8c | b'U' => self.text(reader, 1)?,
            b'}' => {
                let dict = self.dict(reader)?;
                reader.push(dict)?;
            }
            b']' => {
                let list = self.list(reader, Vec::new())?;
                reader.push(Value::List(list))?;
            }
            b')' => self.tuple(reader, 0)?,
            0x85 => self.tuple(reader, 1)?,
            0x86 => self.tuple(reader, 2)?,
            0x87 => self.tuple(reader, 3)?,
            b't' => {
                let items = reader.pop_to_mark()?;
                let tuple = self.list(reader, items)?;
                reader.push(Value::Tuple(tuple))?;
            }
            b'a' => {
                let item = reader.pop()?;
                self.append(reader, vec![item])?;
            }
            b'e' => {
                let items = reader.pop_to_mark()?;
                self.append(reader, items)?;
            }
            b's' => {
                let (value, key) = (reader.pop()?, reader.pop()?);
                self.insert(reader, &[key, value])?;
            }
            b'u' => {
                let items = reader.pop_to_mark()?;
                self.insert(reader, &items)?;
            }
            b'q' => {
                let place = reader.number(1)? as u32;
                reader.remember(place)?;
            }
            b'r' => {
                let place = reader.number(4)? as u32;
                reader.remember(place)?;
            }
            0x94 => {
                let place = reader.memo.len() as u32;
                reader.remember(place)?;
            }
            b'h' => {
                let place = reader.number(1)? as u32;
                reader.recall(place)?;
            }
            b'j' => {
                let place = reader.number(4)? as u32;
                reader.recall(place)?;
            }
            b'c' => {
                let (module, name) = (reader.line()?, reader.line()?);
                reader.push(Value::Global(global(&module, &name)?))?;
            }
            0x93 => {
                let (name, module) = (reader.pop()?, reader.pop()?);
                match (self.string(module), self.string(name)) {
                    (Some(module), Some(name)) => reader.push(Value::Global(global(module, name)?))?,
                    _ => return reader.fault("a name that is no text"),
                }
            }
            b'R' => {
                let (arguments, function) = (reader.pop()?, reader.pop()?);
                let made = self.call(reader, function, arguments)?;
                reader.push(made)?;
            }
            // Attributes of the dictionary, such as versions of modules. Nothing reads them.
            b'b' => {
                reader.pop()?;
                if !matches!(reader.peek()?, Value::Dict(_)) {
                    return reader.fault("a state for something that is not a dictionary");
                }
            }
            b'Q' => {
                let id = reader.pop()?;
                let storage = self.storage(reader, id)?;
                reader.push(storage)?;
            }
            _ => return reader.fault(format!("instruction {code:#04x} is not needed to store weights; refused")),
        }
        Ok(None)
    }

    fn whole(&mut self, reader: &mut Reader, width: usize) -> Result<(), Fault> {
        let number = reader.number(width)?;
        reader.push(Value::Int(number as i128))
    }

    fn text(&mut self, reader: &mut Reader, width: usize) -> Result<(), Fault> {
        let length = reader.number(width)?;
        let text = reader.text(length)?;
        if self.texts.len() >= MOST_VALUES {
            return reader.fault("too many texts");
        }
        self.texts.push(text);
        reader.push(Value::Text(self.texts.len() - 1))
    }

    fn hold(&mut self, reader: &Reader, count: usize) -> Result<(), Fault> {
        self.held += count + 1;
        if self.held > MOST_VALUES { reader.fault("too many values") } else { Ok(()) }
    }

    fn list(&mut self, reader: &Reader, items: Vec<Value>) -> Result<usize, Fault> {
        self.hold(reader, items.len())?;
        self.lists.push(items);
        Ok(self.lists.len() - 1)
    }

    fn dict(&mut self, reader: &Reader) -> Result<Value, Fault> {
        self.hold(reader, 0)?;
        self.dicts.push(Vec::new());
        Ok(Value::Dict(self.dicts.len() - 1))
    }

    fn tuple(&mut self, reader: &mut Reader, count: usize) -> Result<(), Fault> {
        let mut items = (0..count).map(|_| reader.pop()).collect::<Result<Vec<_>, _>>()?;
        items.reverse();
        let tuple = self.list(reader, items)?;
        reader.push(Value::Tuple(tuple))
    }

    fn append(&mut self, reader: &Reader, items: Vec<Value>) -> Result<(), Fault> {
        self.hold(reader, items.len())?;
        match reader.peek()? {
            Value::List(list) => {
                self.lists[list].extend(items);
                Ok(())
            }
            _ => reader.fault("items for something that is not a list"),
        }
    }

    fn insert(&mut self, reader: &Reader, items: &[Value]) -> Result<(), Fault> {
        self.hold(reader, items.len())?;
        let (pairs, rest) = items.as_chunks::<2>();
        match reader.peek()? {
            Value::Dict(dict) if rest.is_empty() => {
                self.dicts[dict].extend(pairs.iter().map(|[key, value]| (*key, *value)));
                Ok(())
            }
            _ => reader.fault("items for something that is not a dictionary"),
        }
    }

    /// The text of a value, if it is one.
    pub(super) fn string(&self, value: Value) -> Option<&str> {
        match value {
            Value::Text(text) => Some(&self.texts[text]),
            _ => None,
        }
    }

    /// The items of a list or tuple, if it is one.
    pub(super) fn items(&self, value: Value) -> Option<&[Value]> {
        match value {
            Value::List(list) | Value::Tuple(list) => Some(&self.lists[list]),
            _ => None,
        }
    }

    fn size(value: Value) -> Option<usize> {
        match value {
            Value::Int(number) => usize::try_from(number).ok(),
            _ => None,
        }
    }

    fn sizes(&self, value: Value) -> Option<Vec<usize>> {
        self.items(value)?.iter().map(|&item| Self::size(item)).collect()
    }

    fn call(&mut self, reader: &Reader, function: Value, arguments: Value) -> Result<Value, Fault> {
        let Some(items) = self.items(arguments) else {
            return reader.fault("arguments that are no tuple");
        };
        match (function, items) {
            (Value::Global(Global::OrderedDict), []) => self.dict(reader),
            (Value::Global(Global::RebuildParameter), [tensor @ Value::Tensor(_), ..]) => Ok(*tensor),
            (Value::Global(Global::RebuildTensor), [Value::Storage(storage), offset, shape, strides, ..]) => {
                let storage = *storage;
                match (Self::size(*offset), self.sizes(*shape), self.sizes(*strides)) {
                    (Some(offset), Some(shape), Some(strides)) if shape.len() == strides.len() && shape.len() <= 8 => {
                        self.hold(reader, shape.len())?;
                        self.views.push(View { storage, offset, shape, strides });
                        Ok(Value::Tensor(self.views.len() - 1))
                    }
                    _ => reader.fault("a tensor of an impossible shape"),
                }
            }
            _ => reader.fault("a call that is not needed to store weights; refused"),
        }
    }

    fn storage(&mut self, reader: &Reader, id: Value) -> Result<Value, Fault> {
        let items = self.items(id).unwrap_or_default();
        let [tag, Value::Global(Global::Storage(kind)), key, _place, length, rest @ ..] = items else {
            return reader.fault("numbers that are not in a storage of PyTorch");
        };
        let whole = rest.iter().all(|value| *value == Value::None);
        match (self.string(*tag), self.string(*key), Self::size(*length)) {
            (Some("storage"), Some(key), Some(length)) if whole => {
                let storage = Storage { kind: *kind, key: key.into(), length };
                self.hold(reader, 1)?;
                self.storages.push(storage);
                Ok(Value::Storage(self.storages.len() - 1))
            }
            _ => reader.fault("numbers that are not in a storage of PyTorch"),
        }
    }
}
