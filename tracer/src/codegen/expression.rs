//! Values as C text.

use super::c_interface::{CInterface, CType};
use super::literal::float;
use super::memory_text::MemoryText;
use super::value::{ConstantId, Constants, Value};

/// Writes values with the names that constants have in one library.
pub struct Expressions<'a> {
    /// The kernels' types.
    pub interface: &'a CInterface,
    /// The arrays that values point to.
    pub constants: &'a Constants,
    /// The arrays that the application provides.
    pub memories: MemoryText<'a>,
    /// What every external name begins with.
    pub prefix: &'a str,
}

/// The name of a constant array.
pub fn constant_name(prefix: &str, constants: &Constants, id: ConstantId) -> String {
    let (name, _) = constants.get(id);
    format!("{prefix}{name}_{}", id.0)
}

impl Expressions<'_> {
    /// An initialiser of a variable of this type, or an argument: of a pointer to what needs no
    /// variable.
    pub fn initializer(&self, ctype: Option<&CType>, value: &Value) -> String {
        match value {
            Value::Integer(number) => integer(*number),
            Value::Float(bits) => float(f32::from_bits(*bits)),
            Value::Null | Value::PointerTo(_) => "NULL".to_owned(),
            Value::Parameter(name) => (*name).to_owned(),
            Value::Arena(place) => {
                let offset = place.offset_bytes.to_string();
                self.memories.at(place.memory, &pointed_to(ctype), &offset)
            }
            Value::Constant(id) => self.constant(ctype, *id),
            Value::Structure(name, values) => self.structure(name, values),
            Value::Array(element, values) => {
                let values = values
                    .iter()
                    .map(|value| self.initializer(Some(element), value));
                format!("{{ {} }}", values.collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn constant(&self, ctype: Option<&CType>, id: ConstantId) -> String {
        let name = constant_name(self.prefix, self.constants, id);
        match ctype {
            // Some members of CMSIS-NN's structures lack a const.
            Some(CType::Pointer {
                to,
                is_const: false,
            }) => format!("({} *){name}", type_name(to)),
            _ => name,
        }
    }

    fn structure(&self, name: &str, values: &[Value]) -> String {
        let members = self.interface.members(name).unwrap_or_default();
        let members = members.iter().zip(values).map(|(member, value)| {
            let value = self.initializer(Some(&member.ctype), value);
            format!(".{} = {value}", member.name)
        });
        format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
    }
}

/// The name of a type, without qualifiers.
pub fn type_name(ctype: &CType) -> String {
    match ctype {
        CType::Scalar(name) | CType::Struct(name) => name.clone(),
        CType::Pointer { to, .. } => format!("{} *", type_name(to)),
        CType::Array(element, _) => type_name(element),
    }
}

fn pointed_to(ctype: Option<&CType>) -> String {
    match ctype {
        Some(CType::Pointer { to, .. } | CType::Array(to, _)) => type_name(to),
        _ => "void".to_owned(),
    }
}

/// The least number has no literal of its own in C.
pub fn integer(number: i32) -> String {
    if number == i32::MIN {
        "INT32_MIN".to_owned()
    } else {
        number.to_string()
    }
}
