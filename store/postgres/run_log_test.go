package postgres

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
)

// TestLogChunksAreReadFromAnyOffset checks the offsets of ReadLog, its limit, and that a log does not
// contain chunks of another one.
func TestLogChunksAreReadFromAnyOffset(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	started := time.Now()
	chunk := func(job rota.ID, offset int64, text string) rota.LogChunk {
		return rota.LogChunk{JobID: job, StartedAt: started, Offset: offset, Length: len(text), Data: []byte(text)}
	}
	job, other := rota.NewID(), rota.NewID()
	binary := "\x00\xff\\x"
	first := []rota.LogChunk{chunk(job, 0, "one\n"), chunk(other, 0, "other\n"), chunk(job, 4, "two\n")}
	must(t, s.AppendLog(t.Context(), first, false))
	must(t, s.AppendLog(t.Context(), first, false)) // an answer was lost
	must(t, s.AppendLog(t.Context(), []rota.LogChunk{chunk(job, 8, binary)}, false))
	for _, test := range []struct {
		offset int64
		bytes  int
		want   string
		from   int64
	}{
		{0, 100, "one\ntwo\n" + binary, 0},
		{3, 100, "one\ntwo\n" + binary, 0},
		{4, 100, "two\n" + binary, 4},
		{9, 100, binary, 8},
		{12, 100, "", 0},
		{99, 100, "", 0},
		{0, 1, "one\n", 0},
		{0, 5, "one\ntwo\n", 0},
		{-1, 1, binary, 8},
	} {
		chunks, err := s.ReadLog(t.Context(), job, test.offset, test.bytes)
		must(t, err)
		var text strings.Builder
		for _, c := range chunks {
			text.Write(c.Data)
		}
		if text.String() != test.want || len(chunks) > 0 && chunks[0].Offset != test.from {
			t.Errorf("from %d with %d bytes: %q in %+v, want %q from %d", test.offset, test.bytes, text.String(), chunks, test.want, test.from)
		}
	}
	replaced := chunk(job, 0, "new")
	replaced.Replaces = true
	for range 2 {
		must(t, s.AppendLog(t.Context(), []rota.LogChunk{replaced}, false))
	}
	if chunks, err := s.ReadLog(t.Context(), job, 0, 100); err != nil || len(chunks) != 1 || string(chunks[0].Data) != "new" {
		t.Errorf("a replaced log is %+v, %v", chunks, err)
	}
	if chunks, err := s.ReadLog(t.Context(), other, 0, 100); err != nil || len(chunks) != 1 {
		t.Errorf("the other log is %+v, %v", chunks, err)
	}
}

// TestLogChunksArePrunedInPages checks that PruneLogs removes the logs of old runs and no others, at
// most as many chunks as it may.
func TestLogChunksArePrunedInPages(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	now := time.Now()
	old, recent := rota.NewID(), rota.NewID()
	var chunks []rota.LogChunk
	for i := range 5 { // the last part first, as an update of the rows may leave them
		for job, started := range map[rota.ID]time.Time{old: now.Add(-time.Hour), recent: now} {
			chunks = append(chunks, rota.LogChunk{JobID: job, StartedAt: started, Offset: int64(4 - i), Length: 1, Data: []byte("x")})
		}
	}
	must(t, s.AppendLog(t.Context(), chunks, false))
	for _, want := range []struct {
		removed int
		left    string
	}{{3, "3 4"}, {2, ""}, {0, ""}} {
		if removed, err := s.PruneLogs(t.Context(), now.Add(-time.Minute), 3); err != nil || removed != want.removed {
			t.Errorf("removed %d, %v; want %d", removed, err, want.removed)
		}
		left := rows(t, s, `SELECT coalesce(string_agg(byte_offset::text, ' ' ORDER BY byte_offset), '') FROM rota_log_chunks WHERE job_id = '`+old.String()+`'`)
		if left[0][0] != want.left {
			t.Errorf("the chunks at %q are left, want %q: a log loses its beginning first", left[0][0], want.left)
		}
	}
	if left := rows(t, s, `SELECT count(*), count(DISTINCT job_id) FROM rota_log_chunks`)[0]; left[0] != "5" || left[1] != "1" {
		t.Errorf("%s chunks of %s logs are left, want 5 of 1", left[0], left[1])
	}
}

// TestOnlyDurableLogAppendWaitsForDisk checks the setting of the transaction, and that it does not stay in the connection.
func TestOnlyDurableLogAppendWaitsForDisk(t *testing.T) {
	s := openTest(t, Config{Logger: quiet, Conns: 1})
	rows(t, s, `
CREATE TABLE rota_seen (setting text);
CREATE FUNCTION rota_see() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO rota_seen VALUES (current_setting('synchronous_commit'));
  RETURN NULL;
END $$;
CREATE TRIGGER see AFTER INSERT ON rota_log_chunks EXECUTE FUNCTION rota_see()`)
	for _, durable := range []bool{false, true} {
		must(t, s.AppendLog(t.Context(), []rota.LogChunk{{JobID: rota.NewID(), StartedAt: time.Now(), Length: 1, Data: []byte("x")}}, durable))
	}
	if seen := rows(t, s, `SELECT setting FROM rota_seen`); len(seen) != 2 || seen[0][0] != "off" || seen[1][0] == "off" {
		t.Errorf("synchronous_commit is %v, want off only in the first", seen)
	}
	after := ""
	must(t, s.query(t.Context(), "test", statement{sql: `SELECT current_setting('synchronous_commit')`, eachRow: func(r row) error {
		after = r.Text(0)
		return nil
	}}))
	if after == "off" {
		t.Error("the setting stays in the connection")
	}
}

// TestLogReadsUseIndexes checks that neither a read nor a prune scans the table.
func TestLogReadsUseIndexes(t *testing.T) {
	s := openTest(t, Config{Logger: quiet})
	for _, sql := range []string{
		strings.NewReplacer("$1", "'"+rota.NewID().String()+"'::uuid", "$2", "5::bigint", "$3", "10::bigint", "$4", "5::bigint").Replace(sqlReadLog),
		strings.NewReplacer("$1", "5::bigint", "$2", "10").Replace(sqlPruneLogs),
	} {
		var plan strings.Builder
		for _, line := range rows(t, s, `SET enable_seqscan = off; SET enable_bitmapscan = off; EXPLAIN `+sql) {
			plan.WriteString(line[0] + "\n")
		}
		if text := plan.String(); strings.Contains(text, "Seq Scan") || !strings.Contains(text, "Index") {
			t.Errorf("%s\n%s", sql, text)
		}
	}
}
