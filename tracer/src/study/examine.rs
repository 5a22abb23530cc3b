//! A model of a baseline: planned, or with a plan that is given, and then verified or audited.

use super::audit::Audit;
use super::emit::arena_changes;
use super::error::{About, PlanError, StudyError};
use super::kernel_request::{KernelRequest, ModelKernels, REFERENCE};
use super::overlap_source::{OverlapKind, OverlapRequest, OverlapSource};
use super::plan::{PlanRequest, Planned, ensure_measured_there, plan_as_it_is};
use super::plan_file::NamedPlan;
use super::plan_to_check::PlanToCheck;
use super::session::Session;
use super::source::Source;
use super::verify::{Verified, VerifyRequest, ensure_is_for, ensure_is_same, verify};
use super::whole_arena::{RuntimeArena, verified_arena, whole_arenas};
use dmo_analysis::optimise::Certificate;
use std::path::{Path, PathBuf};

/// How a model is examined.
#[derive(Debug, Clone)]
pub struct ExamineRequest {
    /// Path of the model, or `zoo:NAME`.
    pub model: String,
    /// Where its plan comes from.
    pub plan: PlanOrigin,
    /// What it runs on.
    pub kernels: KernelRequest,
}

/// Where a plan comes from.
#[derive(Debug, Clone)]
pub enum PlanOrigin {
    /// A plan.json.
    File(PathBuf),
    /// The one that the model's file carries. Where it carries none it is made, and nothing is
    /// changed of the work.
    CarriedOrMade {
        /// How it is made.
        request: PlanRequest,
        /// What the user says of that, which means nothing for a plan that is carried.
        said: Option<&'static str>,
    },
    /// It is made anew; nothing is changed of the work.
    Made(PlanRequest),
}

impl PlanOrigin {
    /// The file with the plan, where it is one of its own.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::CarriedOrMade { .. } | Self::Made(_) => None,
        }
    }
}

/// A model that is examined, read once.
pub struct Examination<'a> {
    /// The model, changed as a given plan says.
    pub source: Source,
    plan: Plan<'a>,
    kernels: &'a KernelRequest,
}

enum Plan<'a> {
    Given(Box<NamedPlan>),
    Carried,
    ToBeMade(&'a PlanRequest),
}

/// What all three witnesses say of a plan.
pub struct Run<'a> {
    /// What they say.
    pub verified: Verified<'a>,
    /// What is proven of a plan that was made anew.
    pub certificate: Option<Certificate>,
    /// What TensorFlow Lite Micro needs with it; `None` if that is not known.
    pub runtime: Option<RuntimeArena>,
}

/// What the geometric check alone says of a plan.
pub struct Audited {
    /// The model and what may overlap in it.
    pub overlaps: OverlapSource,
    /// The plan.
    pub plan: PlanToCheck,
    /// What is proven of it; `None` of a plan that was given.
    pub certificate: Option<Certificate>,
    /// What TensorFlow Lite Micro needs with it; `None` if that is not known.
    pub runtime: Option<RuntimeArena>,
    /// What is wrong with it.
    pub audit: Audit,
}

impl ExamineRequest {
    /// Reads the model, and the plan that is given.
    ///
    /// # Errors
    /// When one of them cannot be read.
    pub fn load(&self) -> Result<Examination<'_>, StudyError> {
        let mut source = Source::load(&self.model)?;
        let plan = match &self.plan {
            PlanOrigin::File(path) => Plan::Given(Box::new(source.follow_plan(path)?)),
            PlanOrigin::CarriedOrMade { request, said } => match (&source.offline_plan, said) {
                (Ok(None), _) => Plan::ToBeMade(request),
                (_, None) => Plan::Carried,
                (_, Some(key)) => {
                    let model = source.name.clone();
                    return Err(PlanError::CarriesPlan { model, key }.into());
                }
            },
            PlanOrigin::Made(request) => Plan::ToBeMade(request),
        };
        let kernels = &self.kernels;
        Ok(Examination {
            source,
            plan,
            kernels,
        })
    }
}

impl Examination<'_> {
    /// What all three witnesses say.
    ///
    /// # Errors
    /// When there is no plan, or it cannot be verified.
    pub fn verify<'a>(
        &'a self,
        kernels: &'a ModelKernels,
        request: VerifyRequest,
        session: &Session,
    ) -> Result<Run<'a>, StudyError> {
        let (plan, certificate, runtime) = match &self.plan {
            Plan::Given(named) => {
                let plan = PlanToCheck::new(named, &self.source, None)?;
                (Some(plan), None, None)
            }
            // With the scratch buffers of the kernels that run it.
            Plan::Carried => (None, None, None),
            Plan::ToBeMade(request) => {
                let planned = plan_as_it_is(&self.source, request, request.time, session)?;
                let plan = PlanToCheck::of_planned(&planned, &self.source)?;
                let runtime = self.runtime_of(&planned);
                (Some(plan), Some(planned.file.certificate), runtime)
            }
        };
        let verified = verify(&self.source, plan, kernels, request, session)?;
        let runtime = match &self.plan {
            Plan::Carried => {
                let arena = verified_arena(&self.source, &verified).ok().flatten();
                arena.as_ref().map(RuntimeArena::of)
            }
            _ => runtime,
        };
        Ok(Run {
            verified,
            certificate,
            runtime,
        })
    }

    /// Of a plan by formula nothing says how much scratch memory other kernels want.
    fn runtime_of(&self, planned: &Planned) -> Option<RuntimeArena> {
        let is_reference = self.kernels.kernels == REFERENCE && self.kernels.further.is_empty();
        if planned.overlaps.measured.is_none() && !is_reference {
            return None;
        }
        RuntimeArena::of_changes(&arena_changes(&self.source, planned)?)
    }

    /// What geometry says with the overlaps that the plan was made with; nothing is run but what
    /// has to be measured.
    ///
    /// # Errors
    /// When there is no plan, or its overlaps are not known.
    pub fn audit(&self, most_clashes: usize, session: &Session) -> Result<Audited, StudyError> {
        let (overlaps, plan, certificate, runtime) = match &self.plan {
            Plan::Given(named) => {
                let kind = self.planned_kind(named)?;
                let request = OverlapRequest::on(kind, self.kernels);
                ensure_measured_there(named.plan.layout, request.names_kernels())?;
                let overlaps = OverlapSource::find(&request, &self.source, session)?;
                let plan = PlanToCheck::new(named, &self.source, Some(&overlaps.graph))?;
                if let Some(measured) = &overlaps.measured {
                    ensure_is_same(&plan, measured.planned.clone())?;
                }
                (overlaps, plan, None, None)
            }
            Plan::Carried => {
                let names_kernels = *self.kernels != KernelRequest::default();
                let kind = if names_kernels {
                    OverlapKind::Traced
                } else {
                    OverlapKind::Analytic
                };
                let request = OverlapRequest::on(kind, self.kernels);
                let overlaps = OverlapSource::find(&request, &self.source, session)?;
                let plan = PlanToCheck::carried(&self.source, &overlaps.graph)?;
                // Other kernels have other scratch memory, of which nothing here says how much.
                let runtime = if names_kernels {
                    None
                } else {
                    let arenas = whole_arenas(&self.source).ok();
                    arenas.map(|[reference, _]| RuntimeArena::of(&reference))
                };
                (overlaps, plan, None, runtime)
            }
            Plan::ToBeMade(request) => {
                let planned = plan_as_it_is(&self.source, request, request.time, session)?;
                let plan = PlanToCheck::of_planned(&planned, &self.source)?;
                let runtime = self.runtime_of(&planned);
                let certificate = Some(planned.file.certificate);
                (planned.overlaps, plan, certificate, runtime)
            }
        };
        let audit = Audit::of(&plan, &overlaps.graph, &overlaps.overlaps, most_clashes);
        Ok(Audited {
            audit: audit.about(&self.source.name)?,
            overlaps,
            plan,
            certificate,
            runtime,
        })
    }

    /// What a given plan was made with, where that says something of the kernels.
    fn planned_kind(&self, named: &NamedPlan) -> Result<OverlapKind, StudyError> {
        let plan = PlanToCheck::new(named, &self.source, None)?;
        if plan.overlap != OverlapKind::Traced && *self.kernels != KernelRequest::default() {
            let overlap = plan.overlap.name();
            return Err(PlanError::NothingRuns { overlap }.into());
        }
        if plan.kernels.is_some() {
            ensure_is_for(&plan, &self.kernels.load()?)?;
        }
        Ok(plan.overlap)
    }
}
