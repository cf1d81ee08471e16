package dynamo

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/dynamo/dyntest"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/storetest"
	"github.com/rotajobs/rota/store/transfer"
)

// copyInto copies a store into a table as rota copy does.
func copyInto(t *testing.T, from transfer.Source, url string) (*transfer.Result, error) {
	t.Helper()
	to, err := OpenTransferTarget(t.Context(), url, Config{})
	must(t, err)
	defer func() { must(t, to.Close()) }()
	return transfer.Copy(t.Context(), from, to, transfer.Options{History: true, Now: time.Now(), Also: to.Prepare})
}

// A store is copied from SQLite into a table, runs there, and is copied back. Each source is marked as moved, and a
// table that holds a store is refused as a target.
func TestStoreIsCopiedIntoTableAndBack(t *testing.T) {
	eachServer(t, func(t *testing.T, server *dyntest.Server) {
		path := filepath.Join(t.TempDir(), "rota.db")
		file, err := sqlite.Open(path)
		must(t, err)
		enqueue := func(s rota.Store, jobs ...rota.NewJob) rota.ID {
			t.Helper()
			reply, err := rota.Do[*rota.Enqueued](t.Context(), s, &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: jobs})
			must(t, err)
			return reply.Jobs[0].Job.ID
		}
		first := enqueue(file, rota.NewJob{Type: "mail", UniqueKey: "one"})
		want, err := storetest.Dump(t.Context(), file)
		must(t, err)
		must(t, file.Close())

		url := server.URL(server.TableName(t)) + testParameters
		from, err := sqlite.OpenTransferSource(path, sqlite.TransferConfig{})
		must(t, err)
		_, err = copyInto(t, from, url)
		must(t, err)
		must(t, from.Close())
		if moved, err := sqlite.Open(path); rota.CodeOf(err) != rota.Conflict {
			_ = moved.Close()
			t.Errorf("the source opens: %v", err)
		}

		s := openTest(t, url)
		if is, err := storetest.Dump(t.Context(), s); err != nil || is != want {
			t.Errorf("%v; the rows differ:\n%s\nwant\n%s", err, is, want)
		}
		second := enqueue(s, rota.NewJob{Type: "mail", UniqueKey: "two"})
		for v, err := range s.Verify(t.Context()) {
			t.Errorf("%v, %v", v, err)
		}
		other := openTest(t, url)
		for _, id := range []rota.ID{first, second} {
			if job, err := other.Job(t.Context(), id); err != nil || job.Type != "mail" {
				t.Errorf("%v, %v", job, err)
			}
		}
		must(t, other.Close())
		beat(t, s, rota.NodeHeartbeat{Node: "a", Incarnation: rota.NewID()})
		if source, err := OpenTransferSource(t.Context(), url, Config{}); rota.CodeOf(err) != rota.Busy {
			_ = source.Close()
			t.Errorf("a store that a node uses is a source: %v", err)
		}
		endLeases(t, s, false)
		must(t, s.Close())
		if target, err := OpenTransferTarget(t.Context(), url, Config{}); rota.CodeOf(err) != rota.Conflict {
			_ = target.Close()
			t.Errorf("a table with a store is a target: %v", err)
		}

		back := filepath.Join(t.TempDir(), "back.db")
		source, err := OpenTransferSource(t.Context(), url, Config{})
		must(t, err)
		to, err := sqlite.OpenTransferTarget(back, sqlite.TransferConfig{})
		must(t, err)
		result, err := transfer.Copy(t.Context(), source, to, transfer.Options{History: true, Now: time.Now()})
		must(t, err)
		if !result.Moved {
			t.Errorf("%+v", result)
		}
		must(t, to.Close())
		must(t, source.Close())
		if moved, err := Open(t.Context(), url, Config{Dir: t.TempDir()}); rota.CodeOf(err) != rota.Conflict {
			_ = moved.Close()
			t.Errorf("the table opens: %v", err)
		}
		allowed, err := Open(t.Context(), url, Config{Dir: t.TempDir(), AllowMoved: true})
		must(t, err)
		must(t, allowed.Close())
		file, err = sqlite.Open(back)
		must(t, err)
		defer file.Close()
		for _, id := range []rota.ID{first, second} {
			if job, err := file.Job(t.Context(), id); err != nil || job.Type != "mail" {
				t.Errorf("%v, %v", job, err)
			}
		}
	})
}

// A table that someone changes during the copy is not marked as moved.
func TestTableThatChangesDuringCopyIsNotMoved(t *testing.T) {
	server := dyntest.Start(t, dyntest.Dynoxide)
	s, url := openTable(t, server)
	source, err := OpenTransferSource(t.Context(), url, Config{})
	must(t, err)
	defer source.Close()
	applied(t, s, time.Time{}, &rota.PutType{Meta: rota.NewMeta(""), Name: "late"})
	to, err := sqlite.OpenTransferTarget(filepath.Join(t.TempDir(), "rota.db"), sqlite.TransferConfig{})
	must(t, err)
	defer to.Close()
	if _, err := transfer.Copy(t.Context(), source, to, transfer.Options{History: true, Now: time.Now()}); rota.CodeOf(err) != rota.Conflict {
		t.Errorf("the copy ends with %v", err)
	}
}
