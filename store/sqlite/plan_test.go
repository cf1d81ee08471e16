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

// plan is how SQLite goes about a statement: by which indexes, or by the primary
// key alone. What walks a whole table, or sorts, says so.
type plan struct {
	sql   string
	by    []string // indexes; none: primary keys
	walks []string // tables that are walked from end to end
	sorts bool
}

var plans = map[string]plan{
	"sqlHeads":      {sql: sqlHeads, by: []string{"rota_jobs_claim"}},
	"sqlLaneAfter":  {sql: sqlLaneAfter, by: []string{"rota_jobs_claim"}},
	"sqlLaneBelow":  {sql: sqlLaneBelow, by: []string{"rota_jobs_claim"}},
	"sqlNextLane":   {sql: sqlNextLane, by: []string{"rota_jobs_claim"}},
	"sqlTaken":      {sql: sqlTaken, by: []string{"rota_jobs_run"}},
	"sqlTail":       {sql: sqlTail, by: []string{"rota_jobs_order"}},
	"sqlOrderAhead": {sql: sqlOrderAhead, by: []string{"rota_jobs_order"}},
	"sqlOrderBack":  {sql: sqlOrderBack, by: []string{"rota_jobs_order"}},
	"sqlPlace":      {sql: sqlPlace},
	"sqlDue":        {sql: sqlDue, by: []string{"rota_jobs_due"}},
	"sqlStale":      {sql: sqlStale, by: []string{"rota_jobs_open"}, walks: []string{"j"}, sorts: true},
	"sqlLeft":       {sql: sqlLeft, by: []string{"rota_jobs_open"}, walks: []string{"j"}, sorts: true},
	"sqlLease":      {sql: sqlLease},
	"sqlWholeJob":   {sql: sqlWholeJob},
	"sqlNewest":     {sql: sqlNewest, walks: []string{"rota_jobs"}}, // its last row
	"sqlRetry":      {sql: sqlRetry, by: []string{"rota_jobs_retry"}},
	"sqlChain":      {sql: sqlChain, by: []string{"rota_jobs_retry"}, sorts: true},
	"sqlKeyGet":     {sql: sqlKeyGet},
	"sqlPlan":       {sql: sqlPlan, by: []string{"rota_jobs_plan"}},
	"sqlAuditGet":   {sql: sqlAuditGet, by: []string{"sqlite_autoindex_rota_audit_1"}},
	"sqlAuditAfter": {sql: sqlAuditAfter},

	"sqlType":      {sql: sqlType},
	"sqlTypes":     {sql: sqlTypes},
	"sqlTemplate":  {sql: sqlTemplate},
	"sqlTemplates": {sql: sqlTemplates},
	"sqlThrottle":  {sql: sqlThrottle, walks: []string{"rota_throttle"}}, // its one row
	"sqlBucket":    {sql: sqlBucket},

	"sqlWebhooks":   {sql: sqlWebhooks, walks: []string{"rota_webhooks"}},                                             // its one row
	"sqlWebhooksOf": {sql: sqlWebhooksOf, by: []string{"rota_templates_webhooks"}, walks: []string{"rota_templates"}}, // those that have some

	"sqlSchedule":     {sql: sqlSchedule},
	"sqlSchedules":    {sql: sqlSchedules},
	"sqlSchedulesOf":  {sql: sqlSchedulesOf, by: []string{"rota_schedules_template"}},
	"sqlDueSchedules": {sql: sqlDueSchedules, by: []string{"rota_schedules_due"}},
	"sqlDefinition":   {sql: sqlDefinition},
	"sqlUsing":        {sql: sqlUsing, by: []string{"rota_schedules_template"}},
	"sqlDependents":   {sql: sqlDependents, by: []string{"rota_edges_back"}},
	"sqlReach":        {sql: sqlReach},
	"sqlLatest":       {sql: sqlLatest, by: []string{"rota_jobs_counts"}},
	"sqlBlocked":      {sql: sqlBlocked, by: []string{"rota_jobs_live"}, sorts: true},
	"sqlBehind":       {sql: sqlBehind, by: []string{"rota_jobs_live"}, sorts: true},
	"sqlWaits":        {sql: sqlWaits, by: []string{"rota_jobs_wait"}},
	"sqlJobsOf":       {sql: sqlJobsOf, by: []string{"rota_jobs_live"}},
	"sqlPlanned":      {sql: sqlPlanned, by: []string{"rota_jobs_live"}, sorts: true},

	"sqlGroup":         {sql: sqlGroup},
	"sqlGroups":        {sql: sqlGroups},
	"sqlMembersLive":   {sql: sqlMembersLive, by: []string{"rota_jobs_member"}},
	"sqlMembersQueued": {sql: sqlMembersQueued, by: []string{"rota_jobs_member"}},
	"sqlMembersDoomed": {sql: sqlMembersDoomed, by: []string{"rota_jobs_member"}},
	"sqlMembersFirst":  {sql: sqlMembersFirst, by: []string{"rota_jobs_group"}},
	"sqlTally":         {sql: sqlTally, by: []string{"rota_jobs_group"}},

	"sqlLaneOpen":  {sql: sqlLaneOpen, by: []string{"COVERING INDEX rota_jobs_lane"}},
	"sqlLaneReady": {sql: sqlLaneReady, by: []string{"COVERING INDEX rota_jobs_lane"}},
	"sqlLaneType":  {sql: sqlLaneType, by: []string{"COVERING INDEX rota_jobs_lane"}},
	"sqlLaneLast":  {sql: sqlLaneLast, by: []string{"rota_jobs_lane"}},
	"sqlLaneHeld":  {sql: sqlLaneHeld, by: []string{"rota_jobs_lane"}},
	"sqlOpenAll":   {sql: sqlOpenAll, by: []string{"COVERING INDEX rota_jobs_open"}, walks: []string{"rota_jobs"}},
	"sqlOpenOf":    {sql: sqlOpenOf, by: []string{"COVERING INDEX rota_jobs_open"}},

	"sqlReservation":  {sql: sqlReservation},
	"sqlReservations": {sql: sqlReservations},
	"sqlActive":       {sql: sqlActive, by: []string{"rota_reservations_active"}},
	"sqlBygone":       {sql: sqlBygone, walks: []string{"rota_reservations"}}, // they are few, and pruned
	"sqlIntents":      {sql: sqlIntents, walks: []string{"rota_intents"}},     // in the order they are wanted in
	"sqlDropped":      {sql: sqlDropped},
	"sqlRestRuns":     {sql: sqlRestRuns, by: []string{"rota_jobs_live"}, sorts: true},
	"sqlRestQueued":   {sql: sqlRestQueued, by: []string{"rota_jobs_live"}, sorts: true},
	"sqlRestLive":     {sql: sqlRestLive, by: []string{"rota_jobs_live"}, sorts: true},
	"sqlRestEnded":    {sql: sqlRestEnded, by: []string{"rota_jobs_schedule"}},
	"sqlShownJob":     {sql: sqlShownJob},
	"sqlIsShown":      {sql: sqlIsShown},
	"sqlAttempts":     {sql: sqlAttempts, by: []string{"rota_jobs_retry"}, sorts: true},
	"sqlRedriven":     {sql: sqlRedriven, by: []string{"rota_jobs_redrive"}},
	"sqlOldest":       {sql: sqlOldest},
	"sqlLatestFirst":  {sql: sqlLatestFirst},
	"sqlEndOfChain":   {sql: sqlEndOfChain, by: []string{"rota_jobs_retry"}, sorts: true},
	"sqlNextDue": {
		sql: sqlNextDue, by: []string{"rota_jobs_due", "rota_schedules_due", "rota_jobs_wait", "rota_reservations_active"},
		walks: []string{"rota_intents"}, // to its first row
	},

	"sqlList":          {sql: sqlList},
	"sqlListSchedule":  {sql: sqlListSchedule, by: []string{"rota_jobs_schedule"}},
	"sqlListDead":      {sql: sqlListDead, by: []string{"rota_jobs_dead", "rota_jobs_redrive", "rota_jobs_retry"}},
	"sqlListGroup":     {sql: sqlListGroup, by: []string{"rota_jobs_group"}, sorts: true},
	"sqlListGroupDead": {sql: sqlListGroupDead, by: []string{"rota_jobs_group", "rota_jobs_redrive", "rota_jobs_retry"}, sorts: true},

	"sqlListReady":   {sql: sqlListReady, by: []string{"COVERING INDEX rota_jobs_claim"}, walks: []string{"j"}, sorts: true},
	"sqlListReadyOf": {sql: sqlListReadyOf, by: []string{"rota_jobs_claim"}, walks: []string{"j"}, sorts: true},
	"sqlListHeld":    {sql: sqlListHeld, by: []string{"COVERING INDEX rota_jobs_held"}, walks: []string{"j"}, sorts: true},
	"sqlListHeldOf":  {sql: sqlListHeldOf, by: []string{"rota_jobs_held"}, walks: []string{"j"}, sorts: true},
	"sqlListOpen":    {sql: sqlListOpen, by: []string{"rota_jobs_open"}, walks: []string{"j"}, sorts: true},
	"sqlListLive":    {sql: sqlListLive, by: []string{"rota_jobs_live"}, sorts: true},

	"sqlCountHidden": {sql: sqlCountHidden, by: []string{"rota_jobs_schedule"}, walks: []string{"d"}}, // mostly empty

	"sqlSchedulesNext":        {sql: sqlSchedulesNext, by: []string{"rota_schedules_due", "rota_schedules_paused"}},
	"sqlSchedulesNextEnabled": {sql: sqlSchedulesNextEnabled, by: []string{"rota_schedules_due"}},
	"sqlSchedulesNextPaused":  {sql: sqlSchedulesNextPaused, by: []string{"rota_schedules_paused"}},
	"sqlSchedulesNextOf":      {sql: sqlSchedulesNextOf, by: []string{"rota_schedules_template"}, sorts: true},

	"sqlCount":          {sql: sqlCount},
	"sqlCountSchedule":  {sql: sqlCountSchedule, by: []string{"rota_jobs_schedule"}},
	"sqlCountDead":      {sql: sqlCountDead, by: []string{"rota_jobs_dead", "rota_jobs_redrive", "rota_jobs_retry"}},
	"sqlCountGroup":     {sql: sqlCountGroup, by: []string{"rota_jobs_group"}},
	"sqlCountGroupDead": {sql: sqlCountGroupDead, by: []string{"rota_jobs_group", "rota_jobs_redrive", "rota_jobs_retry"}},
	"sqlCountEnded":     {sql: sqlCountEnded, by: []string{"COVERING INDEX rota_jobs_ended"}, walks: []string{"j"}},
	"sqlCountReady":     {sql: sqlCountReady, by: []string{"COVERING INDEX rota_jobs_claim"}, walks: []string{"j"}},
	"sqlCountHeld":      {sql: sqlCountHeld, by: []string{"COVERING INDEX rota_jobs_held"}, walks: []string{"j"}},
	"sqlCountOpen":      {sql: sqlCountOpen, by: []string{"rota_jobs_open"}, walks: []string{"j"}},
	"sqlCountLive":      {sql: sqlCountLive, by: []string{"rota_jobs_live"}},

	"sqlStatsReady": {sql: sqlStatsReady, by: []string{"COVERING INDEX rota_jobs_claim"}, walks: []string{"rota_jobs"}},
	"sqlStatsHeld":  {sql: sqlStatsHeld, by: []string{"COVERING INDEX rota_jobs_held"}, walks: []string{"rota_jobs"}},
	"sqlStatsOpen":  {sql: sqlStatsOpen, by: []string{"rota_jobs_open"}, walks: []string{"j"}},
	"sqlStatsDead":  {sql: sqlStatsDead, by: []string{"rota_jobs_dead", "rota_jobs_redrive", "rota_jobs_retry"}, walks: []string{"j"}},
	"sqlStatsSchedules": {
		sql: sqlStatsSchedules, by: []string{"COVERING INDEX rota_schedules_enabled"}, walks: []string{"rota_schedules"},
	},

	"sqlRequest": {sql: sqlRequest},
	"sqlLapsed":  {sql: sqlLapsed, by: []string{"rota_requests_at"}},

	"sqlLeanJob":    {sql: sqlLeanJob},
	"sqlEarlier":    {sql: sqlEarlier, by: []string{"rota_jobs_member"}},
	"sqlAhead":      {sql: sqlAhead, by: []string{"rota_jobs_live"}, sorts: true},
	"sqlLaneAbove":  {sql: sqlLaneAbove, by: []string{"rota_jobs_claim"}},
	"sqlLaneBefore": {sql: sqlLaneBefore, by: []string{"rota_jobs_claim"}},

	// What the triggers look up.
	"members of a group": {
		sql: `SELECT EXISTS (SELECT 1 FROM rota_jobs WHERE group_id = ? AND group_position = ? AND attempt = ?)`,
		by:  []string{"rota_jobs_group"},
	},
	"the active reservation": {
		sql: `SELECT EXISTS (SELECT 1 FROM rota_reservations WHERE status = 'ACTIVE')`, by: []string{"rota_reservations_active"},
	},
}

// planless are statements that look nothing up, and those that verify, which
// looks at everything.
var planless = regexp.MustCompile(`^sql(DataVersion|Insert|Put|KeyPut|Update|Fire|Delete|KeyDelete|Verify|Meta|HasMeta|Schema|Integrity|Begin|Commit|Rollback)`)

var (
	planIndex = regexp.MustCompile(`USING (COVERING )?INDEX (\w+)`)
	planScan  = regexp.MustCompile(`^SCAN (\w+)`)
)

func TestEveryStatementHasItsIndex(t *testing.T) {
	s := openTest(t, Config{})
	conn := plainConn(t, s.path)
	wantPlans(t, conn, plans)
}

// TestOldestFirstHasTheSameIndexes as newest first, and so has a lean list.
func TestOldestFirstHasTheSameIndexes(t *testing.T) {
	s := openTest(t, Config{})
	conn := plainConn(t, s.path)
	turned := map[string]plan{}
	for name, list := range plans {
		if !strings.HasPrefix(name, "sqlList") {
			continue
		}
		newest := list.sql
		list.sql = turn(newest, &rota.JobQuery{Oldest: true, Lean: true})
		if strings.Contains(list.sql, "DESC") || strings.Contains(list.sql, "j.params") || list.sql == newest {
			t.Errorf("%s is not turned round, or not lean:%s", name, list.sql)
		}
		turned[name] = list
	}
	wantPlans(t, conn, turned)
}

// TestWhatHasEndedIsCountedByItsIndexAlone, whatever is asked for.
func TestWhatHasEndedIsCountedByItsIndexAlone(t *testing.T) {
	s := openTest(t, Config{})
	conn := plainConn(t, s.path)
	counts := map[string]plan{}
	for _, schedule := range []string{"", "nightly"} {
		for _, typ := range []string{"", "mail"} {
			for _, state := range []rota.State{"", rota.StateFailed, rota.StateCancelled} {
				for _, status := range []rota.Status{"", rota.StatusRunning, rota.StatusCancelled} {
					q := rota.JobQuery{Schedule: schedule, Type: typ, State: state, Status: status, Tails: typ == ""}
					for i, sql := range countEnded(&q) {
						one := plan{sql: sql, by: []string{"COVERING INDEX rota_jobs_ended"}}
						if sql == sqlCountEnded {
							one.walks = []string{"j"}
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
			steps := explained(t, conn, want.sql)
			used := strings.Join(steps, "\n")
			for _, index := range want.by {
				if !strings.Contains(used, "INDEX "+strings.TrimPrefix(index, "COVERING INDEX ")) || strings.HasPrefix(index, "COVERING") && !strings.Contains(used, index) {
					t.Errorf("%s is not used:\n%s", index, used)
				}
			}
			for _, m := range planIndex.FindAllStringSubmatch(used, -1) {
				if !slices.ContainsFunc(want.by, func(index string) bool { return strings.HasSuffix(index, m[2]) }) {
					t.Errorf("%s is used:\n%s", m[2], used)
				}
			}
			if sorts := strings.Contains(used, "TEMP B-TREE"); sorts != want.sorts || strings.Contains(used, "AUTOMATIC") {
				t.Errorf("sorts: %t, want %t:\n%s", sorts, want.sorts, used)
			}
			for _, step := range steps {
				m := planScan.FindStringSubmatch(step)
				if m != nil && !slices.Contains(append(want.walks, "CONSTANT", "chain", "reach", "one"), m[1]) {
					t.Errorf("walks all of %s:\n%s", m[1], used)
				}
			}
		})
	}
}

func explained(t *testing.T, conn *sqlite.Conn, sql string) (steps []string) {
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

// TestEveryStatementIsPlanned: a statement that is not in the table is one that
// nobody looked at.
func TestEveryStatementIsPlanned(t *testing.T) {
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
			if _, planned := plans[name]; !planned && !planless.MatchString(name) && name != "sqlMembers" && name != "sql" {
				t.Errorf("%s in %s has no plan", name, file)
			}
			return true
		})
	}
	if found < len(plans) {
		t.Errorf("found only %d statements", found)
	}
}
