//! Templates, as they are typed.

use std::path::Path;

use anyhow::Result;
use bidilel_data::text::read_list;
use bidilel_text::Template;

/// Templates as they were typed; what has no place is a file of templates.
pub(crate) fn templates(typed: &[String]) -> Result<Vec<Template>> {
    let mut templates = Vec::new();
    for text in typed {
        let path = Path::new(text);
        match Template::parse(text) {
            Ok(template) => templates.push(template),
            Err(_) if path.is_file() => {
                for line in read_list(path)?.items {
                    templates.push(Template::parse(&line)?);
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(templates)
}
