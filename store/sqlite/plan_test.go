package sqlite

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"zombiezen.com/go/sqlite"
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
	"sqlDue":            {sql: sqlDue, indexes: []string{"rota_jobs_due"}},
	"sqlStale":          {sql: sqlStale, indexes: []string{"rota_jobs_open"}, scans: []string{"j"}, sorts: true},
	"sqlUnsettled":      {sql: sqlUnsettled, indexes: []string{"rota_jobs_open"}, scans: []string{"j"}, sorts: true},
	"sqlLease":          {sql: sqlLease},
	"sqlFullJob":        {sql: sqlFullJob},
	"sqlNewest":         {sql: sqlNewest, scans: []string{"rota_jobs"}}, // its last row
	"sqlRetry":          {sql: sqlRetry, indexes: []string{"rota_jobs_retry"}},
	"sqlChain":          {sql: sqlChain, indexes: []string{"rota_jobs_retry"}, sorts: true},
	"sqlKeyGet":         {sql: sqlKeyGet},
	"sqlPlan":           {sql: sqlPlan, indexes: []string{"rota_jobs_plan"}},
	"sqlAuditGet":       {sql: sqlAuditGet, indexes: []string{"sqlite_autoindex_rota_audit_1"}},
	"sqlAuditAfter":     {sql: sqlAuditAfter},

	"sqlType":      {sql: sqlType},
	"sqlTypes":     {sql: sqlTypes},
	"sqlTemplate":  {sql: sqlTemplate},
	"sqlTemplates": {sql: sqlTemplates},
	"sqlThrottle":  {sql: sqlThrottle, scans: []string{"rota_throttle"}}, // its one row
	"sqlBucket":    {sql: sqlBucket},

	"sqlWebhooks":         {sql: sqlWebhooks, scans: []string{"rota_webhooks"}},                                                        // its one row
	"sqlTemplateWebhooks": {sql: sqlTemplateWebhooks, indexes: []string{"rota_templates_webhooks"}, scans: []string{"rota_templates"}}, // only templates with webhooks are in the index

	"sqlSchedule":       {sql: sqlSchedule},
	"sqlSchedules":      {sql: sqlSchedules},
	"sqlSchedulesOf":    {sql: sqlSchedulesOf, indexes: []string{"rota_schedules_template"}},
	"sqlDueSchedules":   {sql: sqlDueSchedules, indexes: []string{"rota_schedules_due"}},
	"sqlDefinition":     {sql: sqlDefinition},
	"sqlUsing":          {sql: sqlUsing, indexes: []string{"rota_schedules_template"}},
	"sqlDependents":     {sql: sqlDependents, indexes: []string{"rota_edges_back"}},
	"sqlReach":          {sql: sqlReach},
	"sqlLatest":         {sql: sqlLatest, indexes: []string{"rota_jobs_counts"}},
	"sqlBlocked":        {sql: sqlBlocked, indexes: []string{"rota_jobs_live"}, sorts: true},
	"sqlOverlapWaiting": {sql: sqlOverlapWaiting, indexes: []string{"rota_jobs_live"}, sorts: true},
	"sqlExpiredWaits":   {sql: sqlExpiredWaits, indexes: []string{"rota_jobs_wait"}},
	"sqlJobsOf":         {sql: sqlJobsOf, indexes: []string{"rota_jobs_live"}},
	"sqlPlanned":        {sql: sqlPlanned, indexes: []string{"rota_jobs_live"}, sorts: true},

	"sqlGroup":         {sql: sqlGroup},
	"sqlGroups":        {sql: sqlGroups},
	"sqlMembersLive":   {sql: sqlMembersLive, indexes: []string{"rota_jobs_member"}},
	"sqlMembersQueued": {sql: sqlMembersQueued, indexes: []string{"rota_jobs_member"}},
	"sqlMembersEnding": {sql: sqlMembersEnding, indexes: []string{"rota_jobs_member"}},
	"sqlMembersFirst":  {sql: sqlMembersFirst, indexes: []string{"rota_jobs_group"}},
	"sqlTally":         {sql: sqlTally, indexes: []string{"rota_jobs_group"}},

	"sqlKeyQueueOpen":  {sql: sqlKeyQueueOpen, indexes: []string{"COVERING INDEX rota_jobs_lane"}},
	"sqlKeyQueueReady": {sql: sqlKeyQueueReady, indexes: []string{"COVERING INDEX rota_jobs_lane"}},
	"sqlKeyQueueType":  {sql: sqlKeyQueueType, indexes: []string{"COVERING INDEX rota_jobs_lane"}},
	"sqlKeyQueueLast":  {sql: sqlKeyQueueLast, indexes: []string{"rota_jobs_lane"}},
	"sqlKeyQueueHeld":  {sql: sqlKeyQueueHeld, indexes: []string{"rota_jobs_lane"}},
	"sqlOpenAll":       {sql: sqlOpenAll, indexes: []string{"COVERING INDEX rota_jobs_open"}, scans: []string{"rota_jobs"}},
	"sqlOpenOf":        {sql: sqlOpenOf, indexes: []string{"COVERING INDEX rota_jobs_open"}},

	"sqlReservation":         {sql: sqlReservation},
	"sqlReservations":        {sql: sqlReservations},
	"sqlActive":              {sql: sqlActive, indexes: []string{"rota_reservations_active"}},
	"sqlExpiredReservations": {sql: sqlExpiredReservations, scans: []string{"rota_reservations"}}, // they are few, and pruned
	"sqlIntents":             {sql: sqlIntents, scans: []string{"rota_intents"}},                  // in the order of the index
	"sqlDropped":             {sql: sqlDropped},
	"sqlDroppedRunning":      {sql: sqlDroppedRunning, indexes: []string{"rota_jobs_live"}, sorts: true},
	"sqlDroppedQueued":       {sql: sqlDroppedQueued, indexes: []string{"rota_jobs_live"}, sorts: true},
	"sqlDroppedLive":         {sql: sqlDroppedLive, indexes: []string{"rota_jobs_live"}, sorts: true},
	"sqlDroppedEnded":        {sql: sqlDroppedEnded, indexes: []string{"rota_jobs_schedule"}},
	"sqlShownJob":            {sql: sqlShownJob},
	"sqlIsShown":             {sql: sqlIsShown},
	"sqlAttempts":            {sql: sqlAttempts, indexes: []string{"rota_jobs_retry"}, sorts: true},
	"sqlRedriven":            {sql: sqlRedriven, indexes: []string{"rota_jobs_redrive"}},
	"sqlPrunableOldest":      {sql: sqlPrunableOldest},
	"sqlPrunableNewest":      {sql: sqlPrunableNewest},
	"sqlEndOfChain":          {sql: sqlEndOfChain, indexes: []string{"rota_jobs_retry"}, sorts: true},
	"sqlNextDue": {
		sql: sqlNextDue, indexes: []string{"rota_jobs_due", "rota_schedules_due", "rota_jobs_wait", "rota_reservations_active"},
		scans: []string{"rota_intents"}, // to its first row
	},

	"sqlList":          {sql: sqlList},
	"sqlListSchedule":  {sql: sqlListSchedule, indexes: []string{"rota_jobs_schedule"}},
	"sqlListDead":      {sql: sqlListDead, indexes: []string{"rota_jobs_dead", "rota_jobs_redrive", "rota_jobs_retry"}},
	"sqlListGroup":     {sql: sqlListGroup, indexes: []string{"rota_jobs_group"}, sorts: true},
	"sqlListGroupDead": {sql: sqlListGroupDead, indexes: []string{"rota_jobs_group", "rota_jobs_redrive", "rota_jobs_retry"}, sorts: true},

	"sqlListReady":   {sql: sqlListReady, indexes: []string{"COVERING INDEX rota_jobs_claim"}, scans: []string{"j"}, sorts: true},
	"sqlListReadyOf": {sql: sqlListReadyOf, indexes: []string{"rota_jobs_claim"}, scans: []string{"j"}, sorts: true},
	"sqlListHeld":    {sql: sqlListHeld, indexes: []string{"COVERING INDEX rota_jobs_held"}, scans: []string{"j"}, sorts: true},
	"sqlListHeldOf":  {sql: sqlListHeldOf, indexes: []string{"rota_jobs_held"}, scans: []string{"j"}, sorts: true},
	"sqlListOpen":    {sql: sqlListOpen, indexes: []string{"rota_jobs_open"}, scans: []string{"j"}, sorts: true},
	"sqlListLive":    {sql: sqlListLive, indexes: []string{"rota_jobs_live"}, sorts: true},

	"sqlCountHidden": {sql: sqlCountHidden, indexes: []string{"rota_jobs_schedule"}, scans: []string{"d"}}, // mostly empty

	"sqlSchedulesNext":        {sql: sqlSchedulesNext, indexes: []string{"rota_schedules_due", "rota_schedules_paused"}},
	"sqlSchedulesNextEnabled": {sql: sqlSchedulesNextEnabled, indexes: []string{"rota_schedules_due"}},
	"sqlSchedulesNextPaused":  {sql: sqlSchedulesNextPaused, indexes: []string{"rota_schedules_paused"}},
	"sqlSchedulesNextOf":      {sql: sqlSchedulesNextOf, indexes: []string{"rota_schedules_template"}, sorts: true},

	"sqlCount":          {sql: sqlCount},
	"sqlCountSchedule":  {sql: sqlCountSchedule, indexes: []string{"rota_jobs_schedule"}},
	"sqlCountDead":      {sql: sqlCountDead, indexes: []string{"rota_jobs_dead", "rota_jobs_redrive", "rota_jobs_retry"}},
	"sqlCountGroup":     {sql: sqlCountGroup, indexes: []string{"rota_jobs_group"}},
	"sqlCountGroupDead": {sql: sqlCountGroupDead, indexes: []string{"rota_jobs_group", "rota_jobs_redrive", "rota_jobs_retry"}},
	"sqlCountEnded":     {sql: sqlCountEnded, indexes: []string{"COVERING INDEX rota_jobs_ended"}, scans: []string{"j"}},
	"sqlCountReady":     {sql: sqlCountReady, indexes: []string{"COVERING INDEX rota_jobs_claim"}, scans: []string{"j"}},
	"sqlCountHeld":      {sql: sqlCountHeld, indexes: []string{"COVERING INDEX rota_jobs_held"}, scans: []string{"j"}},
	"sqlCountOpen":      {sql: sqlCountOpen, indexes: []string{"rota_jobs_open"}, scans: []string{"j"}},
	"sqlCountLive":      {sql: sqlCountLive, indexes: []string{"rota_jobs_live"}},

	"sqlStatsReady": {sql: sqlStatsReady, indexes: []string{"COVERING INDEX rota_jobs_claim"}, scans: []string{"rota_jobs"}},
	"sqlStatsHeld":  {sql: sqlStatsHeld, indexes: []string{"COVERING INDEX rota_jobs_held"}, scans: []string{"rota_jobs"}},
	"sqlStatsOpen":  {sql: sqlStatsOpen, indexes: []string{"rota_jobs_open"}, scans: []string{"j"}},
	"sqlStatsDead":  {sql: sqlStatsDead, indexes: []string{"rota_jobs_dead", "rota_jobs_redrive", "rota_jobs_retry"}, scans: []string{"j"}},
	"sqlStatsSchedules": {
		sql: sqlStatsSchedules, indexes: []string{"COVERING INDEX rota_schedules_enabled"}, scans: []string{"rota_schedules"},
	},

	"sqlRequest":         {sql: sqlRequest},
	"sqlExpiredRequests": {sql: sqlExpiredRequests, indexes: []string{"rota_requests_at"}},

	"sqlLeanJob":         {sql: sqlLeanJob},
	"sqlEarlier":         {sql: sqlEarlier, indexes: []string{"rota_jobs_member"}},
	"sqlAhead":           {sql: sqlAhead, indexes: []string{"rota_jobs_live"}, sorts: true},
	"sqlTypeQueueAbove":  {sql: sqlTypeQueueAbove, indexes: []string{"rota_jobs_claim"}},
	"sqlTypeQueueBefore": {sql: sqlTypeQueueBefore, indexes: []string{"rota_jobs_claim"}},

	// Lookups of triggers.
	"members of a group": {
		sql:     `SELECT EXISTS (SELECT 1 FROM rota_jobs WHERE group_id = ? AND group_position = ? AND attempt = ?)`,
		indexes: []string{"rota_jobs_group"},
	},
	"the active reservation": {
		sql: `SELECT EXISTS (SELECT 1 FROM rota_reservations WHERE status = 'ACTIVE')`, indexes: []string{"rota_reservations_active"},
	},
}

// unplanned matches statements that look nothing up, and those of Verify, which reads everything.
var unplanned = regexp.MustCompile(`^sql(DataVersion|Insert|Put|KeyPut|Update|Fire|Delete|KeyDelete|Verify|Meta|HasMeta|Schema|Integrity|Begin|Commit|Rollback)`)

var (
	planIndex = regexp.MustCompile(`USING (COVERING )?INDEX (\w+)`)
	planScan  = regexp.MustCompile(`^SCAN (\w+)`)
)

func TestStatementsUseExpectedIndexes(t *testing.T) {
	s := openTest(t, Config{})
	conn := rawConn(t, s.path)
	wantPlans(t, conn, plans)
}

// TestOldestFirstListsUseSameIndexes checks lists in the order oldest first and without documents.
func TestOldestFirstListsUseSameIndexes(t *testing.T) {
	s := openTest(t, Config{})
	conn := rawConn(t, s.path)
	adapted := map[string]plan{}
	for name, list := range plans {
		if !strings.HasPrefix(name, "sqlList") {
			continue
		}
		newest := list.sql
		list.sql = withListOptions(newest, &rota.JobQuery{Oldest: true, Lean: true})
		if strings.Contains(list.sql, "DESC") || strings.Contains(list.sql, "j.params") || list.sql == newest {
			t.Errorf("%s is not reversed or not lean:%s", name, list.sql)
		}
		adapted[name] = list
	}
	wantPlans(t, conn, adapted)
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
					for i, sql := range countEnded(&q) {
						one := plan{sql: sql, indexes: []string{"COVERING INDEX rota_jobs_ended"}}
						if sql == sqlCountEnded {
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
				if !slices.ContainsFunc(want.indexes, func(index string) bool { return strings.HasSuffix(index, m[2]) }) {
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
	stmt, _, err := conn.PrepareTransient("EXPLAIN QUERY PLAN " + sql)
	must(t, err)
	defer stmt.Finalize()
	must(t, rows(stmt, func(s *sqlite.Stmt) error {
		steps = append(steps, s.ColumnText(3))
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
