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

	CheckQueuedShape    = "queued_shape"
	CheckHoldShape      = "hold_shape"
	CheckQueuedEarly    = "queued_early"
	CheckRunningShape   = "running_shape"
	CheckCancelledShape = "cancelled_shape"

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

	CheckOrderTotal     = "order_total"
	CheckPlanTwice      = "plan_twice"
	CheckUniqueKeyOwner = "unique_key_owner"
	CheckUniqueKeyFreed = "unique_key_freed"
	CheckUniqueKeyLive  = "unique_key_live"
)

// Checks lists every check, in the order in which a reader would ask.
var Checks = []Check{
	{CheckFile, "the database engine finds nothing wrong with the file, its tables and its indexes"},
	{CheckSchema, "every table, index and trigger of Rota is there, as this version makes it"},

	{CheckIDShape, "an id is 16 bytes, and not all of them are zero"},
	{CheckUnknownWord, "status, sequel and outcome are words that this version knows"},
	{CheckOutOfRange, "type, priority, position, times and policy are such as an enqueue accepts"},
	{CheckBadJSON, "params are a JSON object; result and progress are JSON"},

	{CheckQueuedShape, "a QUEUED job has neither started nor ended, and has no run; a ready one knows since when it stands in the order"},
	{CheckHoldShape, "a held job is held for a known reason: a delayed one has a run_at, and does not stand in the order yet"},
	{CheckQueuedEarly, "no job took its place in the order before its run_at"},
	{CheckRunningShape, "a RUNNING job has started, and was ready when it did"},
	{CheckCancelledShape, "a CANCELLED job has ended without having started, and nothing came after it"},

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
	{CheckChainKept, "a retry keeps type, name, scope, plan, key and policy, and until it is edited also params and priority"},

	{CheckOrderTotal, "the dispatch order holds every QUEUED job once, each before the next"},
	{CheckPlanTwice, "a planned execution has one first attempt"},
	{CheckUniqueKeyOwner, "a unique key is held by the first job of an execution that was enqueued with it, or by one that is gone"},
	{CheckUniqueKeyFreed, "a dead or cancelled execution holds no unique key"},
	{CheckUniqueKeyLive, "an execution that waits, runs or completed holds its unique key as long as it was promised"},
}
