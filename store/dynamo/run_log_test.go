package dynamo

import (
	"strings"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
)

func textChunk(job rota.ID, started time.Time, offset int64, text string) rota.LogChunk {
	return rota.LogChunk{JobID: job, StartedAt: started, Offset: offset, Length: len(text), Data: []byte(text)}
}

// A log is read from any offset, up to a limit, and has no chunk of another one.
func TestLogChunksAreReadFromAnyOffset(t *testing.T) {
	eachServer(t, func(t *testing.T, server *dyntest.Server) {
		s, _ := openTable(t, server)
		started := time.Now()
		job, other := rota.NewID(), rota.NewID()
		binary := "\x00\xff\\x"
		first := []rota.LogChunk{textChunk(job, started, 4, "two\n"), textChunk(other, started, 0, "other\n"), textChunk(job, started, 0, "one\n")}
		must(t, s.AppendLog(t.Context(), first, false))
		must(t, s.AppendLog(t.Context(), first, false)) // an answer was lost
		last := textChunk(job, started, 8, binary)
		last.Deflated = true
		must(t, s.AppendLog(t.Context(), []rota.LogChunk{last}, true))
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
			{3, 5, "one\ntwo\n", 0},
			{-1, 1, binary, 8},
		} {
			chunks, err := s.ReadLog(t.Context(), job, test.offset, test.bytes)
			must(t, err)
			var text strings.Builder
			for _, c := range chunks {
				text.Write(c.Data)
				if c.Deflated != (c.Offset == 8) || c.JobID != job || c.Length != len(c.Data) {
					t.Errorf("from %d: the chunk %+v", test.offset, c)
				}
			}
			if text.String() != test.want || len(chunks) > 0 && chunks[0].Offset != test.from {
				t.Errorf("from %d with %d bytes: %q in %+v, want %q from %d", test.offset, test.bytes, text.String(), chunks, test.want, test.from)
			}
		}
		replaced := textChunk(job, started, 0, "new")
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
	})
}

// A log with more chunks than one answer has is read completely.
func TestLongLogIsReadInPages(t *testing.T) {
	eachServer(t, func(t *testing.T, server *dyntest.Server) {
		s, _ := openTable(t, server)
		job, large := rota.NewID(), strings.Repeat("x", 64<<10)
		var chunks []rota.LogChunk
		for n := range 20 { // 1.25 MB: DynamoDB ends a page after 1 MB
			chunks = append(chunks, textChunk(job, time.Now(), int64(n*len(large)), large))
		}
		end := int64(len(chunks) * len(large))
		for n := range logPage + 5 {
			chunks = append(chunks, textChunk(job, time.Now(), end+int64(n), "y"))
		}
		must(t, s.AppendLog(t.Context(), chunks, false))
		if read, err := s.ReadLog(t.Context(), job, 0, 10<<20); err != nil || len(read) != len(chunks) {
			t.Errorf("%d chunks, %v; want %d", len(read), err, len(chunks))
		}
		if read, err := s.ReadLog(t.Context(), job, 100, len(large)+1); err != nil || len(read) != 2 {
			t.Errorf("%d chunks, %v; want 2", len(read), err)
		}
	})
}

// A chunk says when DynamoDB may remove it, and is not read after that, even if it is still there.
func TestExpiredLogIsNotRead(t *testing.T) {
	eachServer(t, func(t *testing.T, server *dyntest.Server) {
		s, _ := openTable(t, server)
		s.logKeep = time.Hour
		old, recent := rota.NewID(), rota.NewID()
		started := time.Now().Add(-2 * time.Hour)
		must(t, s.AppendLog(t.Context(), []rota.LogChunk{textChunk(old, started, 0, "old"), textChunk(recent, time.Now(), 0, "recent")}, false))
		for job, want := range map[rota.ID]int{old: 0, recent: 1} {
			for _, offset := range []int64{0, 1, -1} {
				if chunks, err := s.ReadLog(t.Context(), job, offset, 100); err != nil || len(chunks) != want {
					t.Errorf("from %d: %d chunks, %v; want %d", offset, len(chunks), err, want)
				}
			}
		}
		i, err := s.log.table.get(t.Context(), "test", logKey(old, 0))
		must(t, err)
		if ttl := i.number(attrTTL); ttl != started.Add(time.Hour).Unix() {
			t.Errorf("the ttl is %d, want %d", ttl, started.Add(time.Hour).Unix())
		}
	})
}

// An append that fails leaves no gap: what is stored of a log is its beginning.
func TestFailedAppendOfLogLeavesNoGap(t *testing.T) {
	server := dyntest.Start(t, dyntest.Dynoxide)
	proxy := server.Proxy(t)
	s := openTest(t, proxy.URL(server.TableName(t))+testParameters)
	defer s.Close()
	job := rota.NewID()
	chunks := []rota.LogChunk{textChunk(job, time.Now(), 0, "a"), textChunk(job, time.Now(), 1, "b"), textChunk(job, time.Now(), 2, "c")}
	must(t, s.AppendLog(t.Context(), chunks[:1], false))
	proxy.Deny("PutItem")
	if err := s.AppendLog(t.Context(), chunks, false); err == nil {
		t.Fatal("the append succeeds")
	}
	proxy.Heal()
	proxy.Every(3)
	must(t, s.AppendLog(t.Context(), chunks, false))
	proxy.Heal()
	if read, err := s.ReadLog(t.Context(), job, 0, 100); err != nil || len(read) != 3 {
		t.Errorf("%d chunks, %v; want 3", len(read), err)
	}
	tooLong := rota.LogChunk{JobID: job, Data: make([]byte, chunkMax+1)}
	if err := s.AppendLog(t.Context(), []rota.LogChunk{tooLong}, false); rota.CodeOf(err) != rota.Invalid {
		t.Errorf("a chunk that is too long: %v", err)
	}
}
