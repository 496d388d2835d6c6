//! Whether the first line of a table is a header, and what its columns hold.

use super::records::is_number;
use crate::container::{Column, EntryKind};

/// Whether the first record names the columns.
///
/// A record of numbers is none. Neither is one that has text and numbers where the second has them (`a.jpg,0.5,0.25`), or
/// where there is no second: it would be lost without a word. Headers that count (`name,0,1,2`, as pandas writes them)
/// are headers all the same.
pub(super) fn is_header(first: &[Vec<String>]) -> bool {
    let Some(head) = first.first() else { return false };
    // pandas leaves the corner above the numbers of the rows empty.
    if let [corner, rest @ ..] = &head[..]
        && corner.is_empty()
        && counts_up(&rest.iter().collect::<Vec<_>>())
    {
        return true;
    }
    if head.iter().all(|field| is_number(field)) {
        return false;
    }
    let alike = |second: &Vec<String>| {
        head.len() == second.len()
            && head.iter().zip(second).all(|(one, other)| is_number(one) == is_number(other))
    };
    let numbers: Vec<&String> = head.iter().filter(|field| is_number(field)).collect();
    numbers.is_empty() || counts_up(&numbers) || first.get(1).is_some_and(|second| !alike(second))
}

/// Whether these are the numbers from 0 or 1 on.
fn counts_up(numbers: &[&String]) -> bool {
    let from = |first: usize| numbers.iter().enumerate().all(|(i, text)| **text == (i + first).to_string());
    numbers.len() > 1 && (from(0) || from(1))
}

/// The columns that the first records show.
pub(super) fn columns(first: &[Vec<String>], header: bool) -> Vec<Column> {
    let head = first.first().map_or(&[][..], |head| head);
    // A header alone says nothing about its columns, whatever their names look like.
    let rows = if header { first.get(1..).unwrap_or(&[]) } else { first };
    let kind = |index: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(index)).map(|field| is_number(field));
        let number = cells.next().unwrap_or(false);
        let (mut others, mut numbers) = (0, 0);
        cells.for_each(|number| (others, numbers) = (others + 1, numbers + usize::from(number)));
        // One cell of text above numbers is a mistake in that cell, which reading reports; no column of text.
        let mistake = !number && others > 1 && numbers == others;
        if number || mistake { EntryKind::Numbers } else { EntryKind::Strings }
    };
    let name = |index: usize, name: &String| if header { name.clone() } else { index.to_string() };
    let column = |(index, head)| Column { name: name(index, head), kind: kind(index), is_list: false };
    head.iter().enumerate().map(column).collect()
}

#[cfg(test)]
mod tests {
    use EntryKind::{Numbers, Strings};

    use super::*;

    fn records(text: &str) -> Vec<Vec<String>> {
        text.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    }

    #[test]
    fn a_line_like_the_others_is_no_header() {
        for (text, header) in [
            ("name,a,b\nx,1,2", true),
            ("a,b\n1,2", true),
            ("1,2\n3,4", false),
            ("x.jpg,0.5,0.25\ny.jpg,1,2", false),
            ("x.jpg,7\ny.jpg,8", false),
            ("name,0,1\nx,0.5,0.25", true),
            ("name,1,2\nx,0.5,0.25", true),
            (",0,1\n0,0.5,0.25", true),
            ("name\nx", true),
            ("name,a", true),
            ("name,0,1", true),
            ("x.jpg,0.5,0.25", false),
        ] {
            assert_eq!(is_header(&records(text)), header, "{text}");
        }
    }

    #[test]
    fn a_header_alone_has_no_columns_of_numbers() {
        let kinds: Vec<_> = columns(&records("name,0,1"), true).iter().map(|column| column.kind).collect();
        assert_eq!(kinds, [Strings; 3]);
    }

    #[test]
    fn a_single_wrong_cell_does_not_make_text_of_a_column() {
        let kinds = |text: &str| columns(&records(text), true).iter().map(|c| c.kind).collect::<Vec<_>>();
        assert_eq!(kinds("name,a,b\nx,n/k,2\ny,1,2\nz,3,4"), [Strings, Numbers, Numbers]);
        assert_eq!(kinds("name,a\nx,y\ny,z\nz,3"), [Strings, Strings]);
    }
}
