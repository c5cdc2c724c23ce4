//! Named weakenings of the judge, for tests that must notice each of them (feature `mutants`).
//!
//! A test of non-interference is worth what it finds when the judge is wrong. Each mutant makes one
//! rule of policy 3 a little too kind, as a mistake in that rule would. Without the feature there is
//! no code of them at all: [`mutant!`](crate::mutants) is the constant `false`.

#[cfg(feature = "mutants")]
mod active {
    use std::cell::Cell;

    use super::Mutant;

    /// Makes the judge of this thread that mutant, or itself again.
    pub fn activate(mutant: Option<Mutant>) {
        ACTIVE.set(mutant);
    }

    /// The mutants whose rules this thread's judge has come across since it was last asked: no other
    /// can have changed a verdict.
    pub fn asked() -> Vec<Mutant> {
        let asked = ASKED.take();
        Mutant::ALL.iter().copied().filter(|mutant| asked & bit(*mutant) != 0).collect()
    }

    pub(crate) fn is(mutant: Mutant) -> bool {
        ASKED.set(ASKED.get() | bit(mutant));
        ACTIVE.get() == Some(mutant)
    }

    fn bit(mutant: Mutant) -> u128 {
        1 << mutant as u32
    }

    thread_local! {
        static ACTIVE: Cell<Option<Mutant>> = const { Cell::new(None) };
        static ASKED: Cell<u128> = const { Cell::new(0) };
    }
}

#[cfg(feature = "mutants")]
pub(crate) use active::is;
#[cfg(feature = "mutants")]
pub use active::{activate, asked};

/// Whether the judge is that mutant.
#[cfg(feature = "mutants")]
macro_rules! mutant {
    ($name:ident) => {
        $crate::mutants::is($crate::mutants::Mutant::$name)
    };
}

/// Never: not the literal, of which clippy would simplify the rules.
#[cfg(not(feature = "mutants"))]
macro_rules! mutant {
    ($name:ident) => {
        const { $crate::mutants::never() }
    };
}

#[cfg(not(feature = "mutants"))]
pub(crate) const fn never() -> bool {
    false
}

pub(crate) use mutant;

#[cfg(feature = "mutants")]
macro_rules! mutants {
    ($($(#[doc = $doc:literal])* $name:ident),* $(,)?) => {
        /// A weakening.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Mutant {
            $($(#[doc = $doc])* $name),*
        }

        impl Mutant {
            /// All of them.
            pub const ALL: &[Mutant] = &[$(Mutant::$name),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self {
                    $(Mutant::$name => stringify!($name)),*
                }
            }
        }
    };
}

#[cfg(feature = "mutants")]
mutants! {
    /// One arm of an OR is enough.
    OrAsAnd,
    /// `NOT (a AND b)` refutes both.
    NotAndRefutesBoth,
    /// `NOT (x)` says what x says.
    NotIsTransparent,
    /// `x IS NOT FALSE`, `x IS NOT NULL` say what x says.
    IsAnythingCounts,
    /// `c <> T` and `c NOT IN (T)` are equalities.
    NotEqualCounts,
    /// `NOT (c IN (SELECT …))` is one too.
    NotInSelectCounts,
    /// LEFT JOIN's ON filters both sides.
    LeftOnFiltersBoth,
    /// RIGHT JOIN's ON filters the right side.
    RightAsLeft,
    /// FULL JOIN's ON filters both sides.
    FullOnCounts,
    /// A condition on one side of a FULL JOIN makes it an inner one.
    FullReducedToInner,
    /// A cast's length is ignored.
    CastLengthIgnored,
    /// Columns of two type families chain.
    ChainAcrossTypes,
    /// Collations in which unequal bytes are equal are ignored.
    CollationIgnored,
    /// LIMIT and OFFSET are transparent.
    LimitIsTransparent,
    /// A locking clause is transparent, and reaches nothing inside.
    LockIsTransparent,
    /// DISTINCT ON is transparent.
    DistinctOnIsTransparent,
    /// Window functions are transparent.
    WindowIsTransparent,
    /// Aggregates and GROUP BY are transparent.
    AggregateIsTransparent,
    /// Volatile and set-returning functions are transparent.
    VolatileIsTransparent,
    /// The second branch of a set operation is not judged.
    SecondBranchSkipped,
    /// A set operation yields what its first branch yields.
    FirstBranchSpeaksForBoth,
    /// IS NOT DISTINCT FROM a column that may be NULL is an equality.
    NullIsOwn,
    /// One T in an IN list is enough.
    OneOfInIsEnough,
    /// One T in an array is enough.
    OneElementIsEnough,
    /// `c IN (SELECT …)` restricts inside wherever it stands.
    MembershipInwardsAlways,
    /// HAVING counts on every column.
    HavingAlways,
    /// A null-extended outer column is T.
    OuterNullIgnored,
    /// A recursive branch passes on what the first one yields.
    RecursionTrusted,
    /// A recursive CTE is restricted from outside.
    RecursionRestrictedOutside,
    /// What a view reads is not looked at.
    ViewNotExpanded,
    /// An output that may be NULL may be inserted or assigned.
    NullableInserted,
    /// SET of the tenant column is not looked at.
    SetTenantUnchecked,
    /// The inserted value is looked for at the column's own place.
    InsertByTableOrder,
    /// Inserted rows are not looked at.
    InsertUnchecked,
    /// Any arbiter will do.
    ArbiterIgnored,
    /// A condition on EXCLUDED is one on the target.
    ExcludedIsTarget,
    /// WHEN NOT MATCHED BY SOURCE needs no guard.
    BySourceUnguarded,
    /// MERGE's ON filters the source, whatever the actions.
    MergeOnFiltersSource,
    /// A key carries although the rest of it is no unique key.
    KeyWithoutUnique,
    /// A key carries although it does not pair the tenant columns.
    KeyWithoutTenant,
    /// A key carries although the rest of it is not compared.
    KeyNotCompared,
    /// A key carries backwards.
    KeyBackwards,
    /// A CTE that nobody refers to is not judged.
    UnreferencedCteSkipped,
    /// What one reference to a CTE knows restricts it for all.
    OneReferenceSpeaksForAll,
    /// An equality on any column of a level counts for each of its relations.
    QualifierIgnored,
    /// RETURNING sees the row as it was.
    OldRowReturned,
    /// T is compared without regard to case.
    CaseFolded,
    /// Bound values are not checked.
    BindUnchecked,
    /// Another use of a parameter may fix its type.
    ParameterUsesIgnored,
    /// Sources beside the target are not judged.
    UsingUnchecked,
    /// Sub-selects in target lists are not judged.
    TargetListUnchecked,
    /// A comparison of any two constants that may be false is false.
    ConstantsAreFalse,
    /// A qualifier finds the relation of that name, whatever the alias.
    QualifierAsText,
    /// `(o).c` is the row o's before it is the column o's.
    RowBeforeColumn,
    /// A CTE of a relation's name is that relation.
    CteNameIgnored,
    /// `schema.name` finds a CTE of that name.
    SchemaOfCteIgnored,
    /// A CTE's own name means itself in its body, without RECURSIVE.
    CteSeesItself,
    /// Column renames of a relation's alias are ignored.
    RenamesIgnored,
    /// The merged column of RIGHT and FULL JOIN … USING is the left side's.
    MergedIsLeft,
    /// Partitions are everybody's.
    PartitionFree,
    /// Inheritance children are everybody's.
    ChildFree,
    /// Materialized views are everybody's.
    MaterializedFree,
    /// Any operator named `=` is equality.
    OperatorIgnored,
    /// A cast to another type family only relabels.
    CastFamilyIgnored,
    /// A condition counts for sides of a join that it does not filter.
    ValidityIgnored,
    /// What is T or NULL outside restricts inside.
    NullableDemanded,
    /// A locked sub-select takes its equality from an outer level.
    OuterProvesLocked,
    /// An aggregate over no rows yields no row.
    EmptyAggregateIgnored,
    /// RETURNING is not judged.
    ReturningUnchecked,
    /// Subscripts of columns that are written are not judged.
    SubscriptsUnchecked,
    /// Of the inserted rows the first one is looked at.
    FirstRowOnly,
    /// Rows of INSERT … SELECT are not looked at.
    InsertSelectUnchecked,
    /// Rows that MERGE inserts are not looked at.
    MergeInsertUnchecked,
    /// Columns of two references to one CTE or view are of one row.
    ReferencesAreOneRow,
    /// What a key demands of a sub-select is counted by the columns inside of it.
    OutputsAreColumns,
    /// A key carries along a comparison under a collation in which unequal bytes are equal.
    KeyCollationIgnored,
    /// A key is trusted though its column can be written by a parent's name, or a partition's.
    TrustedByEveryName,
    /// What a recursive CTE yields is settled when the same columns are T, on whatever terms.
    RecursionSettledEarly,
    /// Only other outputs make rows beside unnest.
    PaddedByOutputsAlone,
    /// Above grouping sets a column is what it was below.
    GroupingSetsIgnored,
    /// What a function in FROM yields is compared bytewise.
    FunctionIsBytewise,
    /// Domains are compared bytewise.
    DomainIsBytewise,
    /// Fields of a composite are compared bytewise.
    FieldIsBytewise,
    /// NULLIF has its left operand's type.
    NullIfTakesLeft,
    /// A row in a sub-select is compared by its first field's operator.
    FirstFieldsOperator,
    /// An array literal of Unicode's spaces has no element.
    UnicodeSpaceIsEmpty,
    /// `(x).*` in a row is one element.
    RowIsOneElement,
    /// A locking clause does not reach into derived tables within derived ones.
    LockStopsInside,
    /// What a scalar sub-select yields has no name.
    SubselectIsNameless,
    /// A function's only column is called by its alias.
    FunctionsColumnByAlias,
    /// All columns of a data-modifying CTE are known.
    ReturningIsKnown,
    /// A parent is read whatever its children are.
    ChildOfOthersIgnored,
    /// A computed tenant column is not written.
    ComputedTenantIgnored,
    /// A merged column has its side's type.
    MergedTypeIgnored,
    /// RETURNING * of MERGE lists the target's columns first.
    MergeTargetFirst,
    /// Where errors are denied: no call can fail.
    CallsNeverFail,
    /// Where errors are denied: target lists inside are evaluated for the rows that are left.
    InnerTargetsSpared,
}
