package rota

// Check is an invariant that Verify holds every row to.
type Check struct {
	Name    string // what a Violation calls it, and scripts may rely on
	Promise string // what holds of every healthy store, as a sentence
}

// The names of the checks.
const (
	CheckFile   = "file"   // the file as the database engine sees it
	CheckSchema = "schema" // the tables, indexes and triggers that guard the rows

	CheckIDShape     = "id_shape"
	CheckUnknownWord = "unknown_word"
	CheckOutOfRange  = "out_of_range"
	CheckBadJSON     = "bad_json"
	CheckBadSpec     = "bad_spec"
	CheckSpecColumn  = "spec_column"

	CheckQueuedShape    = "queued_shape"
	CheckHoldShape      = "hold_shape"
	CheckQueuedEarly    = "queued_early"
	CheckRunningShape   = "running_shape"
	CheckCancelledShape = "cancelled_shape"
	CheckScheduledShape = "scheduled_shape"
	CheckMemberShape    = "member_shape"
	CheckDeliveryShape  = "delivery_shape"

	CheckRunningWithoutRun    = "running_without_run"
	CheckOrphanRun            = "orphan_run"
	CheckOrphanParams         = "orphan_params"
	CheckRunWithoutRunningJob = "run_without_running_job"
	CheckDoubleRun            = "double_run"
	CheckRunShape             = "run_shape"
	CheckTokenEmpty           = "token_empty"
	CheckOpenJobClosedRun     = "open_job_closed_run"
	CheckClosedJobOpenRun     = "closed_job_open_run"
	CheckCancelIgnored        = "cancel_ignored"
	CheckSkippedShape         = "skipped_shape"

	CheckFinishedWithoutSequel = "finished_without_sequel"
	CheckSequelUnfinished      = "sequel_unfinished"
	CheckWrongSequel           = "wrong_sequel"
	CheckRetryMissing          = "retry_missing"
	CheckRetryUnasked          = "retry_unasked"
	CheckRetryMissingParent    = "retry_missing_parent"
	CheckRetryTwice            = "retry_twice"

	CheckAttemptRange      = "attempt_range"
	CheckExecutionIdentity = "execution_identity"
	CheckChainLength       = "chain_length"
	CheckChainIdentity     = "chain_identity"
	CheckChainKept         = "chain_kept"
	CheckRedriveShape      = "redrive_shape"
	CheckRedriveTwice      = "redrive_twice"

	CheckOrderTotal     = "order_total"
	CheckPlanTwice      = "plan_twice"
	CheckUniqueKeyOwner = "unique_key_owner"
	CheckUniqueKeyFreed = "unique_key_freed"
	CheckUniqueKeyLive  = "unique_key_live"

	CheckOverlapTurn = "overlap_turn"
	CheckGroupTurn   = "group_turn"
	CheckKeyTurn     = "key_turn"

	CheckGroupShape   = "group_shape"
	CheckGroupMissing = "group_missing"
	CheckGroupPlaces  = "group_places"
	CheckGroupEnded   = "group_ended"

	CheckTemplateMissing   = "template_missing"
	CheckScheduleShape     = "schedule_shape"
	CheckScheduleArchived  = "schedule_archived"
	CheckScheduleSpent     = "schedule_spent"
	CheckScheduleEdges     = "schedule_edges"
	CheckDependencyMissing = "dependency_missing"
	CheckDependencyCycle   = "dependency_cycle"

	CheckBucketShape      = "bucket_shape"
	CheckReservationShape = "reservation_shape"
	CheckReservationTwice = "reservation_twice"
	CheckReservationRun   = "reservation_run"
	CheckIntentMissing    = "intent_missing"
)

// Checks lists every check, in the order in which a reader would ask.
var Checks = []Check{
	{CheckFile, "the database engine finds nothing wrong with the file, its tables and its indexes"},
	{CheckSchema, "every table, index and trigger of Rota is there, as this version makes it"},

	{CheckIDShape, "an id is 16 bytes, and not all of them are zero"},
	{CheckUnknownWord, "status, sequel, outcome, state, mode and ending are words that this version knows"},
	{CheckOutOfRange, "names, priority, position, times, trace and policy are such as a command accepts"},
	{CheckBadJSON, "params are a JSON object; result, progress and counts are JSON"},
	{CheckBadSpec, "what is declared of a type, a template, a schedule, the limits or the webhooks can be read, is such as a command accepts, and is written as this version writes it"},
	{CheckSpecColumn, "what stands beside a spec is what stands in it"},

	{CheckQueuedShape, "a QUEUED job has neither started nor ended, and has no run; a ready one knows since when it stands in the order"},
	{CheckHoldShape, "a held job is held for known reasons, has what each is about, and does not stand in the order yet; a concurrency key alone takes a place back"},
	{CheckQueuedEarly, "no job that waited for its run_at alone took its place in the order before it"},
	{CheckRunningShape, "a RUNNING job has started, and was ready when it did"},
	{CheckCancelledShape, "a CANCELLED job has ended without having started, and nothing came after it"},
	{CheckScheduledShape, "a job of a schedule goes by its name, has a template and a time at which it counts; only its planned first attempt waits for dependencies, and no other job does"},
	{CheckMemberShape, "a job has a place in a group exactly if it is in one, and is then neither planned nor of a schedule"},
	{CheckDeliveryShape, "a delivery goes by the id of what it tells, tells a webhook of something that webhooks are told of, and takes no place from other jobs"},

	{CheckRunningWithoutRun, "a RUNNING job has a run"},
	{CheckOrphanRun, "a run has a job"},
	{CheckOrphanParams, "params that stand apart have a job"},
	{CheckRunWithoutRunningJob, "the job of a run is RUNNING"},
	{CheckDoubleRun, "a run belongs to one job"},
	{CheckRunShape, "a run has an id and its job's start time, and a finish time exactly if it has an outcome"},
	{CheckTokenEmpty, "an open run has a lease token"},
	{CheckOpenJobClosedRun, "a job has ended if its run has"},
	{CheckClosedJobOpenRun, "a run has ended if its job has"},
	{CheckCancelIgnored, "a run that was asked to stop completed or was cancelled"},
	{CheckSkippedShape, "a run that nobody ran was skipped, and says for what"},

	{CheckFinishedWithoutSequel, "of a job that has ended it is known what came after it"},
	{CheckSequelUnfinished, "nothing came after a job that has not ended"},
	{CheckWrongSequel, "a failure is followed by a retry or is a dead letter; anything else by nothing"},
	{CheckRetryMissing, "a job that was to be retried has its retry"},
	{CheckRetryUnasked, "only a job that was to be retried has a retry"},
	{CheckRetryMissingParent, "a retry names a job that exists"},
	{CheckRetryTwice, "a job has at most one retry"},

	{CheckAttemptRange, "1 <= attempt <= max_attempts, and exactly the first attempt is no retry"},
	{CheckExecutionIdentity, "an execution goes by the id of its first attempt"},
	{CheckChainLength, "the attempt of a retry is its parent's + 1"},
	{CheckChainIdentity, "a retry is of the same execution as the job it retries"},
	{CheckChainKept, "a retry keeps type, name, scope, plan, template, schedule, group, keys, trace and policy, and until it is edited also params and priority"},
	{CheckRedriveShape, "only a first attempt tries another execution anew, and does so at once"},
	{CheckRedriveTwice, "of those that try an execution anew at most one was not called off"},

	{CheckOrderTotal, "the dispatch order holds every QUEUED job once, each before the next"},
	{CheckPlanTwice, "a planned execution has one first attempt"},
	{CheckUniqueKeyOwner, "a unique key is held by the first job of an execution that was enqueued with it, or by one that is gone"},
	{CheckUniqueKeyFreed, "an execution that died, was cancelled, or was skipped by Rota holds no unique key"},
	{CheckUniqueKeyLive, "an execution that waits, runs or completed holds its unique key as long as it was promised"},

	{CheckOverlapTurn, "of the executions of a schedule and a scope not all wait for another to end"},
	{CheckGroupTurn, "in a sequential group the first member that has not ended has its turn, and nobody else, unless it was ended or a Sweep is to give the turn"},
	{CheckKeyTurn, "of the jobs of a concurrency key as many stand in the order as may start, and if any may these are the first, unless a Sweep is to see to it"},

	{CheckGroupShape, "a group is ended as its policy allows, and counts as pruned only members that ended, and not all"},
	{CheckGroupMissing, "the group of a job exists"},
	{CheckGroupPlaces, "each place of a group belongs to one execution, which is there or was pruned"},
	{CheckGroupEnded, "of a group that was ended nobody waits to start, and of a cancelled one whoever runs was asked to stop, unless a Sweep is to see to it"},

	{CheckTemplateMissing, "the template of a job or a schedule exists"},
	{CheckScheduleShape, "a DISABLED schedule owes no fire, no other has a reason to be disabled, and one that owes a fire knows since when"},
	{CheckScheduleArchived, "the template of an ENABLED schedule is ACTIVE, unless a Sweep is to disable the schedule"},
	{CheckScheduleSpent, "a schedule that was to fire once is not ENABLED when it has and all it planned has ended"},
	{CheckScheduleEdges, "the edges between schedules are those of their specs"},
	{CheckDependencyMissing, "what a schedule depends on exists"},
	{CheckDependencyCycle, "no schedule depends on itself, not through others either"},

	{CheckBucketShape, "recent starts are counted of types with a rate, and are no more than it allows"},
	{CheckReservationShape, "a reservation has an end exactly if it is not ACTIVE"},
	{CheckReservationTwice, "at most one reservation is ACTIVE"},
	{CheckReservationRun, "the direct run of the ACTIVE reservation is on its node, and has not ended"},
	{CheckIntentMissing, "what a Sweep is to see to exists"},
}
