//! Hooks against marks at the same calls.

use dmo_analysis::profile::{LayerProfile, Profile};
use dmo_analysis::trace::{Role, Tensor};
use dmo_trace::program::hooks::{Hooks, LayerHook, ResolveError};
use dmo_trace::program::target::Target;

/// A program with these functions hooked.
pub fn hooked(mut target: Target, hooks: &[&str]) -> Result<Target, ResolveError> {
    let mut found = Hooks::default();
    for hook in hooks {
        let hook: LayerHook = hook.parse().unwrap_or_else(|error| panic!("{error}"));
        found.add(hook, &target.image, &target.map)?;
    }
    target.hooks = Some(found);
    Ok(target)
}

fn tensors(layer: &LayerProfile) -> Vec<&Tensor> {
    let tensors = layer.tensors.iter().map(|tensor| &tensor.tensor);
    tensors
        .filter(|tensor| tensor.role != Role::Unlisted)
        .collect()
}

/// Each hooked layer lies in a marked one, and is the same but for the call itself.
pub fn assert_same(case: &str, by_marks: &Profile, by_hooks: &Profile) {
    for hooked in &by_hooks.layers {
        let case = format!("{case}: hooked {}", hooked.name);
        let marked = by_marks
            .layers
            .iter()
            .find(|marked| marked.begin < hooked.begin && hooked.end < marked.end)
            .unwrap_or_else(|| panic!("{case}: no marks around it"));
        assert_eq!(tensors(hooked), tensors(marked), "{case}");
        assert_eq!(hooked.pattern, marked.pattern, "{case}");
        assert_eq!(hooked.pairs.len(), marked.pairs.len(), "{case}");
        for (a, b) in hooked.pairs.iter().zip(&marked.pairs) {
            assert_eq!(a.safe_overlap_bytes, b.safe_overlap_bytes, "{case}");
        }
        let around = marked.instructions() - hooked.instructions();
        assert!(
            (2..60).contains(&around),
            "{case}: {around} instructions around the call"
        );
    }
    assert!(!by_hooks.layers.is_empty(), "{case}");
}
