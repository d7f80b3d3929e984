//! A reader of pickles that hold lists of tensors, and of no others.
//!
//! # Reference
//! Instructions: `pickletools` of Python's standard library, protocols 2 to 5. Names: `torch/serialization.py` and
//! `torch/_utils.py` of PyTorch.

use super::numbers::Kind;
use super::reader::Reader;

/// Largest pickle; those of ResNets have a few tens of kilobytes.
pub(super) const LARGEST: usize = 64 << 20;

/// Values a pickle may make.
pub(super) const MOST_VALUES: usize = 1 << 22;

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

impl Pickle {
    /// Runs the pickle at the start of `bytes` and returns its value and its length.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<(Value, usize), Fault> {
        let mut reader = Reader::new(bytes);
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
            b'K' | b'M' => {
                let number = reader.number(if code == b'K' { 1 } else { 2 })?;
                reader.push(Value::Int(number as i128))?;
            }
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
            b')' | 0x85..=0x87 | b't' => {
                let items = match code {
                    b't' => reader.pop_to_mark()?,
                    b')' => Vec::new(),
                    _ => reader.pop_last(usize::from(code - 0x84))?,
                };
                let tuple = self.list(reader, items)?;
                reader.push(Value::Tuple(tuple))?;
            }
            b'a' | b'e' => {
                let items = if code == b'a' { reader.pop_last(1)? } else { reader.pop_to_mark()? };
                self.append(reader, items)?;
            }
            b's' | b'u' => {
                let items = if code == b's' { reader.pop_last(2)? } else { reader.pop_to_mark()? };
                self.insert(reader, &items)?;
            }
            b'q' | b'r' => {
                let place = reader.number(if code == b'q' { 1 } else { 4 })? as u32;
                reader.remember(place)?;
            }
            0x94 => reader.remember(reader.memo.len() as u32)?,
            b'h' | b'j' => {
                let place = reader.number(if code == b'h' { 1 } else { 4 })? as u32;
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
