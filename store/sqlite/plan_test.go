package sqlite

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// plan is the expected query plan of a statement: the indexes that it uses. Statements that scan a
// table or sort are marked.
type plan struct {
	sql     string
	indexes []string // empty for primary keys only
	scans   []string // tables that are scanned completely
	sorts   bool
}

var plans = map[string]plan{
	"sqlHeads":          {sql: sqlHeads, indexes: []string{"rota_jobs_claim"}},
	"sqlTypeQueueAfter": {sql: sqlTypeQueueAfter, indexes: []string{"rota_jobs_claim"}},
	"sqlTypeQueueBelow": {sql: sqlTypeQueueBelow, indexes: []string{"rota_jobs_claim"}},
	"sqlNextReadyType":  {sql: sqlNextReadyType, indexes: []string{"rota_jobs_claim"}},
	"sqlClaimedBefore":  {sql: sqlClaimedBefore, indexes: []string{"rota_jobs_run"}},
	"sqlTail":           {sql: sqlTail, indexes: []string{"rota_jobs_order"}},
	"sqlOrderAhead":     {sql: sqlOrderAhead, indexes: []string{"rota_jobs_order"}},
	"sqlOrderBack":      {sql: sqlOrderBack, indexes: []string{"rota_jobs_order"}},
	"sqlPosition":       {sql: sqlPosition},
	"sqlLowerPriority":  {sql: sqlLowerPriority, indexes: []string{"rota_jobs_order"}},
	"sqlDue":            {sql: sqlDue, indexes: []string{"rota_jobs_due"}},
	"sqlStale":          {sql: sqlStale, indexes: []string{"rota_jobs_open"}, scans: []string{"j"}, sorts: true},
	"sqlUnsettled":      {sql: sqlUnsettled, indexes: []string{"rota_jobs_open"}, scans: []string{"j"}, sorts: true},
	"sqlLease":          {sql: sqlLease},
	"sqlFullJob":        {sql: sqlFullJob},
	"sqlNewest":         {sql: sqlNewest, scans: []string{"rota_jobs"}}, // its last row
	"sqlRetry":          {sql: sqlRetry, indexes: []string{"rota_jobs_retry"}},
	"sqlChain":          {sql: sqlChain, indexes: []string{"rota_jobs_retry"}, sorts: true},
	"sqlPlan":           {sql: sqlPlan, indexes: []string{"rota_jobs_plan"}},
	"sqlAuditByID":      {sql: sqlAuditByID, indexes: []string{"sqlite_autoindex_rota_audit_1"}},
	"sqlAuditGet":       {sql: sqlAuditGet, indexes: []string{"sqlite_autoindex_rota_audit_1"}},

	"sqlThrottle": {sql: sqlThrottle, scans: []string{"rota_throttle"}}, // its one row

	"sqlWebhooks":         {sql: sqlWebhooks, scans: []string{"rota_webhooks"}},                                                        // its one row
	"sqlTemplateWebhooks": {sql: sqlTemplateWebhooks, indexes: []string{"rota_templates_webhooks"}, scans: []string{"rota_templates"}}, // only templates with webhooks are in the index

	"sqlDueSchedules":      {sql: sqlDueSchedules, indexes: []string{"rota_schedules_due"}},
	"sqlTemplateSchedules": {sql: sqlTemplateSchedules, indexes: []string{"rota_schedules_template"}},
	"sqlDependents":        {sql: sqlDependents, indexes: []string{"rota_edges_back"}},
	"sqlDependencies":      {sql: sqlDependencies},
	"sqlLatestJobs":        {sql: sqlLatestJobs, indexes: []string{"rota_jobs_counts"}},
	"sqlBlockedJobs":       {sql: sqlBlockedJobs, indexes: []string{"rota_jobs_live"}, sorts: true},
	"sqlWaitingJobs":       {sql: sqlWaitingJobs, indexes: []string{"rota_jobs_live"}, sorts: true},
	"sqlExpiredWaits":      {sql: sqlExpiredWaits, indexes: []string{"rota_jobs_wait"}},
	"sqlLiveJobs":          {sql: sqlLiveJobs, indexes: []string{"rota_jobs_live"}},
	"sqlPlannedJobs":       {sql: sqlPlannedJobs, indexes: []string{"rota_jobs_live"}, sorts: true},

	"sqlGroup":         {sql: sqlGroup, indexes: []string{"rota_jobs_group"}},
	"sqlGroups":        {sql: sqlGroups, indexes: []string{"rota_jobs_group"}, scans: []string{"g"}},
	"sqlMembersLive":   {sql: sqlMembersLive, indexes: []string{"rota_jobs_member"}},
	"sqlMembersQueued": {sql: sqlMembersQueued, indexes: []string{"rota_jobs_member"}},
	"sqlMembersEnding": {sql: sqlMembersEnding, indexes: []string{"rota_jobs_member"}},
	"sqlMembersFirst":  {sql: sqlMembersFirst, indexes: []string{"rota_jobs_group"}},

	"sqlKeyQueueOpen":   {sql: sqlKeyQueueOpen, indexes: []string{"COVERING INDEX rota_jobs_lane"}},
	"sqlKeyQueueOpenOf": {sql: sqlKeyQueueOpenOf, indexes: []string{"COVERING INDEX rota_jobs_lane (concurrency_key=? AND status=? AND hold=? AND type=?"}},
	"sqlLiveKeys":       {sql: sqlLiveKeys, indexes: []string{"COVERING INDEX rota_jobs_lane (concurrency_key>?"}, scans: []string{"keys"}},
	"sqlKeyQueueReady":  {sql: sqlKeyQueueReady, indexes: []string{"COVERING INDEX rota_jobs_lane"}},
	"sqlKeyQueueType":   {sql: sqlKeyQueueType, indexes: []string{"COVERING INDEX rota_jobs_lane"}},
	"sqlKeyQueueLast":   {sql: sqlKeyQueueLast, indexes: []string{"rota_jobs_lane"}},
	"sqlKeyQueueHeld":   {sql: sqlKeyQueueHeld, indexes: []string{"rota_jobs_lane"}},
	"sqlOpenAll":        {sql: sqlOpenAll, indexes: []string{"COVERING INDEX rota_jobs_open"}, scans: []string{"rota_jobs"}},
	"sqlOpenOf":         {sql: sqlOpenOf, indexes: []string{"COVERING INDEX rota_jobs_open"}},

	"sqlActive":         {sql: sqlActive, indexes: []string{"rota_reservations_active"}},
	"sqlDroppedRunning": {sql: sqlDroppedRunning, indexes: []string{"rota_jobs_live"}, sorts: true},
	"sqlDroppedQueued":  {sql: sqlDroppedQueued, indexes: []string{"rota_jobs_live"}, sorts: true},
	"sqlDroppedLive":    {sql: sqlDroppedLive, indexes: []string{"rota_jobs_live"}, sorts: true},
	"sqlDroppedEnded":   {sql: sqlDroppedEnded, indexes: []string{"rota_jobs_schedule"}},
	"sqlRedrives":       {sql: sqlRedrives, indexes: []string{"rota_jobs_redrive"}},
	"sqlNextDue": {
		sql: sqlNextDue, indexes: []string{"rota_jobs_due", "rota_schedules_due", "rota_jobs_wait", "rota_reservations_active"},
		scans: []string{"rota_intents"}, // to its first row
	},

	"sqlTrackAll":       {sql: sqlTrackAll, scans: []string{"rota_jobs"}}, // once, when a replica begins to note changes
	"sqlTrack":          {sql: sqlTrack},
	"sqlTrackMoved":     {sql: sqlTrackMoved},
	"sqlTrackRemoved":   {sql: sqlTrackRemoved},
	"sqlChanged":        {sql: sqlChanged, indexes: []string{"COVERING INDEX rota_changed_by_entry"}, scans: []string{"c"}}, // in its order
	"sqlChangedFirst":   {sql: sqlChangedFirst, indexes: []string{"COVERING INDEX rota_changed_by_entry"}},
	"sqlSettle":         {sql: sqlSettle},
	"sqlSettleMoved":    {sql: sqlSettleMoved},
	"sqlSettleUpTo":     {sql: sqlSettleUpTo, indexes: []string{"rota_changed_by_entry"}},
	"sqlSettleAllMoved": {sql: sqlSettleAllMoved, scans: []string{"rota_moved"}}, // mostly empty

	"hidden jobs": {sql: selectHidden + "true", indexes: []string{"rota_jobs_schedule"}, scans: []string{"d"}}, // mostly empty

	"sqlSchedulesNext":        {sql: sqlSchedulesNext, indexes: []string{"rota_schedules_due", "rota_schedules_paused"}},
	"sqlSchedulesNextEnabled": {sql: sqlSchedulesNextEnabled, indexes: []string{"rota_schedules_due"}},
	"sqlSchedulesNextPaused":  {sql: sqlSchedulesNextPaused, indexes: []string{"rota_schedules_paused"}},
	"sqlSchedulesNextOf":      {sql: sqlSchedulesNextOf, indexes: []string{"rota_schedules_template"}, sorts: true},

	"sqlCountEnded": {sql: sqlCountEnded, indexes: []string{"COVERING INDEX rota_jobs_ended"}, scans: []string{"j"}},

	"sqlStats": {
		sql: sqlStats, indexes: []string{
			"COVERING INDEX rota_jobs_claim", "COVERING INDEX rota_jobs_held", "rota_jobs_open", "rota_jobs_dead", "rota_jobs_redrive",
			"rota_jobs_retry", "COVERING INDEX rota_schedules_enabled",
		}, scans: []string{"rota_jobs", "j", "rota_schedules"},
	},
	"sqlAhead":  {sql: sqlAhead, indexes: []string{"rota_jobs_live"}, sorts: true},
	"sqlBefore": {sql: sqlBefore, indexes: []string{"rota_jobs_claim"}, scans: []string{"queues", "q"}},

	"sqlExpiredRequests": {sql: sqlExpiredRequests, indexes: []string{"rota_requests_at"}},

	// Queries of storekit.
	"audit":                       {indexes: []string{"rota_audit_at"}},
	"audit of a subject":          {indexes: []string{"rota_audit_subject"}},
	"audit of a schedule":         {indexes: []string{"rota_audit_schedule"}},
	"audit of an execution":       {indexes: []string{"rota_audit_execution"}},
	"created jobs":                {indexes: []string{"rota_jobs_created"}},
	"finished jobs":               {indexes: []string{"rota_jobs_finished"}},
	"finished jobs of a schedule": {indexes: []string{"rota_jobs_schedule_finished"}},
	"chain of a job":              {indexes: []string{"rota_jobs_retry"}, sorts: true},
	"execution of an attempt":     {indexes: []string{"rota_audit_subject"}},
	"schedules of a template":     {indexes: []string{"rota_schedules_template"}},
	"intents":                     {scans: []string{"rota_intents"}}, // in the order of the index
	"attempts":                    {indexes: []string{"rota_jobs_retry"}, sorts: true},
	"execution":                   {indexes: []string{"rota_jobs_retry"}, scans: []string{"last"}, sorts: true},
	"last attempt":                {indexes: []string{"rota_jobs_retry"}, scans: []string{"chain"}, sorts: true},
	"prunable oldest":             {indexes: []string{"rota_jobs_retry"}, scans: []string{"first"}, sorts: true},
	"prunable newest":             {indexes: []string{"rota_jobs_retry"}, scans: []string{"first"}, sorts: true},
	"last seal of the audit":      {scans: []string{"rota_audit_seals"}}, // by its key, and only the last row
	"definitions of an owner":     {indexes: []string{"COVERING INDEX rota_templates_owner", "COVERING INDEX rota_schedules_owner"}},
	"user of a certificate":       {indexes: []string{"COVERING INDEX rota_principals_certificate"}},
	"roles":                       {indexes: []string{"rota_principals_roles"}, scans: []string{"rota_principals"}},
	"tokens of a user":            {indexes: []string{"rota_access_tokens_user"}},
	"ended tokens":                {indexes: []string{"COVERING INDEX rota_access_tokens_ended"}},
	"any secrets":                 {indexes: []string{"COVERING INDEX rota_secrets_fingerprint", "rota_templates_webhooks"}, scans: []string{"rota_secrets", "rota_templates"}}, // its first rows, and the templates with webhooks
	"earlier members":             {indexes: []string{"rota_jobs_member"}},

	// Lookups of triggers.
	"members of a group": {
		sql:     `SELECT EXISTS (SELECT 1 FROM rota_jobs WHERE group_id = ? AND group_position = ? AND attempt = ?)`,
		indexes: []string{"rota_jobs_group"},
	},
	"the active reservation": {
		sql: `SELECT EXISTS (SELECT 1 FROM rota_reservations WHERE status = 'ACTIVE')`, indexes: []string{"rota_reservations_active"},
	},
}

// unplanned matches statements that look nothing up but a key of rota_meta, those that create and drop tables, and those of Verify and of the files in a backup, which read everything.
var unplanned = regexp.MustCompile(`^sql(FirstAnchor|AllUnsealed|Contents|FilesTable|HasAttached|Attached|DataVersion|Insert|Put|KeyPut|Update|Fire|Delete|KeyDelete|Verify|Meta|HasMeta|Schema|Integrity|Begin|Commit|Rollback|Savepoint|Release|Caller|SetMark|TxMark|MarkInUse|SetReplica|CreateChanged|CreateMoved|DropChanged|DropMoved|HasChanged)`)

var (
	planIndex = regexp.MustCompile(`USING (COVERING )?INDEX (\w+)`)
	planScan  = regexp.MustCompile(`^SCAN (\w+)`)
)

func TestStatementsUseExpectedIndexes(t *testing.T) {
	s := openTest(t, Config{})
	conn := rawConn(t, s.path)
	for _, sql := range []string{sqlCreateChanged, sqlCreateChangedByEntry, sqlCreateMoved} { // a replica has them
		must(t, sqlitex.ExecuteTransient(conn, sql, nil))
	}
	all := maps.Clone(plans)
	for name, sql := range storekit.Lookups() {
		one := all[name]
		one.sql = sql
		all[name] = one
	}
	wantPlans(t, conn, all)
}

// queryPlans are the expected plans of lists and of counts. sorts is that of the list.
var queryPlans = map[string]struct {
	query rota.JobQuery
	plan
}{
	"all":              {rota.JobQuery{}, plan{}},
	"template":         {rota.JobQuery{Template: "x"}, plan{}},
	"schedule":         {rota.JobQuery{Schedule: "x"}, plan{indexes: []string{"rota_jobs_schedule"}}},
	"dead":             {rota.JobQuery{Dead: true}, plan{indexes: []string{"rota_jobs_dead", "rota_jobs_redrive", "rota_jobs_retry"}}},
	"group":            {rota.JobQuery{GroupID: rota.ID{1}}, plan{indexes: []string{"rota_jobs_group"}, sorts: true}},
	"group, dead":      {rota.JobQuery{GroupID: rota.ID{1}, Dead: true}, plan{indexes: []string{"rota_jobs_group", "rota_jobs_redrive", "rota_jobs_retry"}, sorts: true}},
	"queued":           {rota.JobQuery{State: rota.StateQueued}, plan{indexes: []string{"COVERING INDEX rota_jobs_claim"}, sorts: true}},
	"queued, template": {rota.JobQuery{State: rota.StateQueued, Template: "x"}, plan{indexes: []string{"rota_jobs_claim"}, sorts: true}},
	"scheduled":        {rota.JobQuery{State: rota.StateScheduled}, plan{indexes: []string{"COVERING INDEX rota_jobs_held"}, sorts: true}},
	"held, template":   {rota.JobQuery{State: rota.StateBlocked, Template: "x"}, plan{indexes: []string{"rota_jobs_held"}, sorts: true}},
	"running":          {rota.JobQuery{State: rota.StateRunning}, plan{indexes: []string{"rota_jobs_open"}, sorts: true}},
	"name":             {rota.JobQuery{Name: "x"}, plan{indexes: []string{"rota_jobs_name"}}},
	"unique key":       {rota.JobQuery{UniqueKey: "x"}, plan{indexes: []string{"rota_jobs_unique_key"}}},
	"queued, key":      {rota.JobQuery{UniqueKey: "x", State: rota.StateQueued}, plan{indexes: []string{"rota_jobs_unique_key"}}},
	"scope":            {rota.JobQuery{ScopeKind: "x", ScopeID: "x"}, plan{indexes: []string{"rota_jobs_scope"}}},
	"error code":       {rota.JobQuery{ErrorCode: "x"}, plan{indexes: []string{"rota_jobs_error_code"}}},
	"text":             {rota.JobQuery{Text: "x"}, plan{}},
	"live, schedule":   {rota.JobQuery{State: rota.StateBlocked, Schedule: "x"}, plan{indexes: []string{"rota_jobs_live"}, sorts: true}},
}

// TestListsUseExpectedIndexes checks lists, also in the order oldest first and without documents.
func TestListsUseExpectedIndexes(t *testing.T) {
	s := openTest(t, Config{})
	conn := rawConn(t, s.path)
	lists := map[string]plan{}
	for name, one := range queryPlans {
		newest, _ := reads.ListSQL(&one.query, 10)
		one.query.Oldest, one.query.Lean = true, true
		oldest, _ := reads.ListSQL(&one.query, 10)
		if strings.Contains(oldest, "DESC") || strings.Contains(oldest, "j.params") || oldest == newest {
			t.Errorf("%s is not reversed or not lean:%s", name, oldest)
		}
		one.plan.scans = []string{"j"} // an index that holds only such jobs, or the table in its order
		one.plan.sql = newest
		lists[name] = one.plan
		one.plan.sql = oldest
		lists["oldest "+name] = one.plan
	}
	wantPlans(t, conn, lists)
}

// TestBoundsOfSearchesUseExpectedIndexes checks the statement that finds where a search stops.
func TestBoundsOfSearchesUseExpectedIndexes(t *testing.T) {
	s := openTest(t, Config{})
	conn := rawConn(t, s.path)
	bounds := map[string]plan{}
	for name, one := range queryPlans {
		if path := storekit.PathOf(&one.query); path.ByID() {
			one.plan.sql, _ = reads.BoundSQL(&one.query)
			one.plan.scans = []string{"j"}
			one.plan.indexes = nil
			if index := listIndex(&one.query); index != "" {
				one.plan.indexes = []string{"COVERING INDEX " + index}
			}
			bounds[name] = one.plan
		}
	}
	wantPlans(t, conn, bounds)
}

// TestCountsUseExpectedIndexes checks the counts that are not made of parts.
func TestCountsUseExpectedIndexes(t *testing.T) {
	s := openTest(t, Config{})
	conn := rawConn(t, s.path)
	counts := map[string]plan{}
	for name, one := range queryPlans {
		one.query.Before = rota.ID{1}
		statements := countStatements(&one.query)
		if len(statements) != 1 {
			t.Errorf("%s is counted by %d statements", name, len(statements))
		}
		one.plan.sql, one.plan.sorts, one.plan.scans = statements[0].SQL, false, []string{"j"}
		counts[name] = one.plan
	}
	wantPlans(t, conn, counts)
}

// TestEndedCountsUseOnlyTheirIndex checks the counts of ended jobs for all combinations of filters.
func TestEndedCountsUseOnlyTheirIndex(t *testing.T) {
	s := openTest(t, Config{})
	conn := rawConn(t, s.path)
	counts := map[string]plan{}
	for _, schedule := range []string{"", "nightly"} {
		for _, typ := range []string{"", "mail"} {
			for _, state := range []rota.State{"", rota.StateFailed, rota.StateCancelled} {
				for _, status := range []rota.Status{"", rota.StatusRunning, rota.StatusCancelled} {
					q := rota.JobQuery{Schedule: schedule, Type: typ, State: state, Status: status, Tails: typ == ""}
					for i, count := range countEnded(&q) {
						one := plan{sql: count.SQL, indexes: []string{"COVERING INDEX rota_jobs_ended"}}
						if count.SQL == sqlCountEnded {
							one.scans = []string{"j"}
						}
						counts[strings.Join([]string{schedule, typ, string(state), string(status), strconv.Itoa(i)}, " ")] = one
					}
				}
			}
		}
	}
	wantPlans(t, conn, counts)
}

func wantPlans(t *testing.T, conn *sqlite.Conn, plans map[string]plan) {
	for name, want := range plans {
		t.Run(name, func(t *testing.T) {
			steps := queryPlan(t, conn, want.sql)
			used := strings.Join(steps, "\n")
			for _, index := range want.indexes {
				if !strings.Contains(used, "INDEX "+strings.TrimPrefix(index, "COVERING INDEX ")) || strings.HasPrefix(index, "COVERING") && !strings.Contains(used, index) {
					t.Errorf("%s is not used:\n%s", index, used)
				}
			}
			for _, m := range planIndex.FindAllStringSubmatch(used, -1) {
				if !slices.ContainsFunc(want.indexes, func(index string) bool { return strings.Contains(index+" ", m[2]+" ") }) {
					t.Errorf("%s is used:\n%s", m[2], used)
				}
			}
			if sorts := strings.Contains(used, "TEMP B-TREE"); sorts != want.sorts || strings.Contains(used, "AUTOMATIC") {
				t.Errorf("sorts: %t, want %t:\n%s", sorts, want.sorts, used)
			}
			for _, step := range steps {
				m := planScan.FindStringSubmatch(step)
				if m != nil && !slices.Contains(append(want.scans, "CONSTANT", "chain", "reach", "one"), m[1]) {
					t.Errorf("scans all of %s:\n%s", m[1], used)
				}
			}
		})
	}
}

func queryPlan(t *testing.T, conn *sqlite.Conn, sql string) (steps []string) {
	t.Helper()
	stmt, _, err := conn.PrepareTransient(rewrite("EXPLAIN QUERY PLAN " + sql))
	must(t, err)
	defer stmt.Finalize()
	must(t, rows(stmt, func(r storekit.Row) error {
		steps = append(steps, r.Text(3))
		return nil
	}))
	return steps
}

// TestEveryStatementHasExpectedPlan finds statements that are not in the table of plans.
func TestEveryStatementHasExpectedPlan(t *testing.T) {
	files, err := filepath.Glob("*.go")
	must(t, err)
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		must(t, err)
		ast.Inspect(tree, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(spec.Names[0].Name, "sql") {
				return true
			}
			name := spec.Names[0].Name
			found++
			if _, planned := plans[name]; !planned && !unplanned.MatchString(name) && name != "sqlMembers" && name != "sql" {
				t.Errorf("%s in %s has no plan", name, file)
			}
			return true
		})
	}
	if found < len(plans) {
		t.Errorf("found only %d statements", found)
	}
}
