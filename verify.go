package rota

// Check is an invariant that Verify checks.
type Check struct {
	Name    string // name in a Violation; scripts may rely on it
	Promise string // what is true for every intact store
}

// The names of the checks.
const (
	CheckFile   = "file"   // integrity check of the database engine
	CheckSchema = "schema" // tables, indexes and triggers

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

	CheckOwnerMissing      = "owner_missing"
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

	CheckPrincipalShape = "principal_shape"
	CheckRoleCycle      = "role_cycle"
	CheckTokenShape     = "token_shape"
	CheckAccessState    = "access_state"
	CheckAuditChain     = "audit_chain"
	CheckSecretShape    = "secret_shape"
	CheckSecretTemplate = "secret_template"
	CheckSecretKeys     = "secret_keys"
)

// Checks lists every check, from the file to single rows and their relations.
var Checks = []Check{
	{CheckFile, "the database engine finds nothing wrong with the file, its tables and its indexes"},
	{CheckSchema, "every table, index and trigger of Rota exists in the form of this version"},

	{CheckIDShape, "an id has 16 bytes and is not zero"},
	{CheckUnknownWord, "status, sequel, outcome, state, mode and ending have known values"},
	{CheckOutOfRange, "names, priority, position, times, trace and policy are in the range that commands accept"},
	{CheckBadJSON, "params are a JSON object; result, progress and counts are JSON"},
	{CheckBadSpec, "the specification of a type, a template, a schedule, a principal, the limits or the webhooks can be parsed, is valid, and is in canonical form"},
	{CheckSpecColumn, "columns that repeat a value of a specification have the same value"},

	{CheckQueuedShape, "a QUEUED job has not started, has not ended and has no run; a ready job has the time since when it is ready"},
	{CheckHoldShape, "a held job has known reasons, the data that each reason needs, and no ready time; only a concurrency key can hold a job that was ready"},
	{CheckQueuedEarly, "a job that waited only for its run_at did not become ready before it"},
	{CheckRunningShape, "a RUNNING job has started and was ready when it started"},
	{CheckCancelledShape, "a CANCELLED job has ended without starting, and has no retry"},
	{CheckScheduledShape, "a job of a schedule has the name of the schedule, a template and a time at which it counts; only its planned first attempt waits for dependencies, and no other job does"},
	{CheckMemberShape, "a job has a position in a group exactly if it has a group, and then has no plan time and no schedule"},
	{CheckDeliveryShape, "a webhook delivery has the id derived from its event, has an event that webhooks receive, and has the lowest priority"},

	{CheckRunningWithoutRun, "a RUNNING job has a run"},
	{CheckOrphanRun, "a run has a job"},
	{CheckOrphanParams, "params that are stored separately have a job"},
	{CheckRunWithoutRunningJob, "the job of a run is RUNNING"},
	{CheckDoubleRun, "a run belongs to one job"},
	{CheckRunShape, "a run has an id and its job's start time, and a finish time exactly if it has an outcome"},
	{CheckTokenEmpty, "an open run has a lease token"},
	{CheckOpenJobClosedRun, "a job has ended if its run has"},
	{CheckClosedJobOpenRun, "a run has ended if its job has"},
	{CheckCancelIgnored, "a run that was asked to stop completed, was cancelled, or had timed out before"},
	{CheckSkippedShape, "a run without a runner was skipped and has the reason"},

	{CheckFinishedWithoutSequel, "an ended job has a sequel"},
	{CheckSequelUnfinished, "a job that has not ended has no sequel"},
	{CheckWrongSequel, "a failed job has a retry or is a dead letter; any other ended job has neither"},
	{CheckRetryMissing, "a job with the sequel retry has a retry"},
	{CheckRetryUnasked, "only a job with the sequel retry has a retry"},
	{CheckRetryMissingParent, "a retry names a job that exists"},
	{CheckRetryTwice, "a job has at most one retry"},

	{CheckAttemptRange, "1 <= attempt <= max_attempts, and exactly the first attempt is not a retry"},
	{CheckExecutionIdentity, "the id of an execution is the id of its first attempt"},
	{CheckChainLength, "the attempt of a retry is that of its parent + 1"},
	{CheckChainIdentity, "a retry has the execution of the job that it retries"},
	{CheckChainKept, "a retry keeps type, name, scope, plan time, template, schedule, group, keys, trace, owner and policy, and, unless edited, params and priority"},
	{CheckRedriveShape, "only a first attempt redrives an execution, and only an edit delays it"},
	{CheckRedriveTwice, "an execution that did not complete has at most one redrive that was not cancelled"},

	{CheckOrderTotal, "the dispatch order contains every QUEUED job once and is strictly ascending"},
	{CheckPlanTwice, "a planned execution has one first attempt"},
	{CheckUniqueKeyOwner, "a unique key belongs to the first job of an execution that was enqueued with it, or to an execution that no longer exists"},
	{CheckUniqueKeyFreed, "an execution that died, was cancelled, or was skipped by Rota holds no unique key"},
	{CheckUniqueKeyLive, "an execution that waits, runs or completed holds its unique key for the promised time"},

	{CheckOverlapTurn, "of the executions of a schedule and a scope, at least one does not wait for another"},
	{CheckGroupTurn, "in a sequential group exactly the first member that has not ended may run, unless the group was ended or a Sweep is pending"},
	{CheckKeyTurn, "of the jobs of a concurrency key, the first ones are ready, as many as may start, unless a Sweep is pending"},

	{CheckGroupShape, "a group has an ending that its policy allows; its pruned members have ended, and at least one member is not pruned"},
	{CheckGroupMissing, "the group of a job exists"},
	{CheckGroupPlaces, "each position of a group belongs to one execution, which exists or was pruned"},
	{CheckGroupEnded, "an ended group has no waiting member, and each running member of a cancelled group was asked to stop, unless a Sweep is pending"},

	{CheckOwnerMissing, "a schedule has an owner, and a template has one unless it is archived"},
	{CheckTemplateMissing, "the template of a job or a schedule exists"},
	{CheckScheduleShape, "a DISABLED schedule has no next fire; only a DISABLED schedule has a reason; a schedule with a next fire has the time when that was set"},
	{CheckScheduleArchived, "the template of an ENABLED schedule is ACTIVE, unless a Sweep is pending"},
	{CheckScheduleSpent, "an AT schedule is not ENABLED after it has fired and all its executions have ended"},
	{CheckScheduleEdges, "the stored dependencies between schedules are those of their specifications"},
	{CheckDependencyMissing, "the schedules that a schedule depends on exist"},
	{CheckDependencyCycle, "no schedule depends on itself, directly or through others"},

	{CheckBucketShape, "recent starts are counted only for types with a rate, and do not exceed it"},
	{CheckReservationShape, "a reservation has an end time exactly if it is not ACTIVE"},
	{CheckReservationTwice, "at most one reservation is ACTIVE"},
	{CheckReservationRun, "the direct run of the ACTIVE reservation is on its node and has not ended"},
	{CheckIntentMissing, "the object of an intent record exists"},

	{CheckPrincipalShape, "a user or a role has valid credentials, and valid memberships and grants, each once and in order; a role has no credentials"},
	{CheckRoleCycle, "no role is a member of itself, directly or through others"},
	{CheckTokenShape, "an access token has values that commands accept, and an actor that revoked it only if it was revoked"},
	{CheckAccessState, "the version of all users, roles and access tokens is stored if there are any"},
	{CheckSecretShape, "a secret has a key and a ciphertext that commands accept"},
	{CheckSecretTemplate, "the template of a secret exists, was not dropped, and has no more secrets than commands accept"},
	{CheckSecretKeys, "the fingerprint of the key that seals new secrets is stored if there are any"},
	{CheckAuditChain, "no stored audit entry was changed, removed, inserted or cut off since it was sealed"},
}
