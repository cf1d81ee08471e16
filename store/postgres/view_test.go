package postgres

import (
	"strconv"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
)

// TestViewWithLostConnectionIsUnavailable checks that the view reports Unavailable and that the
// store continues to work.
func TestViewWithLostConnectionIsUnavailable(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet, Conns: 2})
	v, err := s.View(t.Context())
	must(t, err)
	pid := strconv.Itoa(int(v.(*view).conn.Conn().PgConn().PID()))
	rows(t, s, `SELECT pg_terminate_backend(`+pid+`, 5000)`)
	for range 2 {
		if _, err := v.Stats(t.Context()); rota.CodeOf(err) != rota.Unavailable {
			t.Errorf("a view without a connection answers with %v", err)
		}
	}
	must(t, v.Close())
	for range 3 { // more than the pool has connections, so each view must have released its own
		again, err := s.View(t.Context())
		must(t, err)
		if _, err := again.Stats(t.Context()); err != nil {
			t.Errorf("after a lost view: %v", err)
		}
		must(t, again.Close())
	}
}

// TestViewAfterFailedReadIsUnavailable checks that later reads name the earlier failure.
func TestViewAfterFailedReadIsUnavailable(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	v, err := s.View(t.Context())
	must(t, err)
	defer v.Close()
	if err := v.(*view).query(t.Context(), "division by zero", statement{sql: `SELECT 1 / 0`}); err == nil {
		t.Error("the division by zero succeeded")
	}
	if _, err := v.Stats(t.Context()); rota.CodeOf(err) != rota.Unavailable || !strings.Contains(err.Error(), "open another view") {
		t.Errorf("after a failed read: %v", err)
	}
}

// TestNextFiresUseIndexes checks that a page of next fires reads only as many index entries as it
// returns, however many schedules there are.
func TestNextFiresUseIndexes(t *testing.T) {
	s := openTest(t, Config{Poll: true, Logger: quiet})
	p := newRawConn(t, s, nil)
	p.must(`INSERT INTO rota_schedules (name, template, state, anchor, next_fire, version, created_at, updated_at, spec)
	 SELECT 's' || n, 'report', CASE WHEN n % 2 = 0 THEN 'ENABLED' ELSE 'PAUSED' END, 7, n, gen_random_uuid(), 7, 7, '{}'
	 FROM generate_series(1, 20000) n; ANALYZE rota_schedules`)
	for _, sql := range []string{sqlSchedulesNext, sqlSchedulesNextEnabled, sqlSchedulesNextPaused} {
		sql = strings.NewReplacer("$1", "''", "$2", "20", "$3", "100", "$4", "9000").Replace(sql)
		plan := strings.Join(p.column(`EXPLAIN `+sql), "\n")
		if strings.Contains(plan, "Seq Scan") || !strings.Contains(plan, "Index Scan") || strings.Contains(plan, "Bitmap") {
			t.Errorf("planned as\n%s\nfor%s", plan, sql)
		}
	}
}
