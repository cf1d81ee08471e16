package transfer_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/transfer"
)

// counting is a source that counts the rows that a database sends for the pages of jobs.
type counting struct {
	transfer.Source
	jobs, done, sent int
}

func (c *counting) ReadRows(ctx context.Context, q *storekit.RowQuery) (*storekit.RowPage, error) {
	if q.After == nil {
		c.done = 0
	}
	limit := q.Limit
	page, err := c.Source.ReadRows(ctx, q)
	if err == nil && q.Table.IsJobs() {
		c.sent += min(limit, c.jobs-c.done)
		c.done += page.Len()
	}
	return page, err
}

// TestLargeRowsAreSentOnce copies jobs of which few fit into a page: the database does not send the
// others again and again. The source is read twice, to copy and to compare.
func TestLargeRowsAreSentOnce(t *testing.T) {
	const jobs = 400
	from, to := newFile(t), newFile(t)
	s, err := from.open(t, false)
	must(t, err)
	params, err := json.Marshal(map[string]string{"text": strings.Repeat("x", 1000)})
	must(t, err)
	command := &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: make([]rota.NewJob, jobs)}
	for i := range command.Jobs {
		command.Jobs[i] = rota.NewJob{Type: "mail.send", Params: params}
	}
	_, err = rota.Do[*rota.Enqueued](t.Context(), s, command)
	must(t, err)
	must(t, s.Close())
	source, err := from.source()
	must(t, err)
	defer source.Close()
	target, err := to.target()
	must(t, err)
	defer target.Close()
	o, counted := transfer.Options{History: true}, &counting{Source: source, jobs: jobs}
	o.SetPage(2000, 10_000)
	_, err = transfer.Copy(t.Context(), counted, target, o)
	must(t, err)
	if most := 2 * 3 * jobs / 2; counted.sent > most {
		t.Errorf("%d rows were sent for %d jobs that were read twice, want at most %d", counted.sent, jobs, most)
	}
}

// TestProgressOfComparison: a comparison reports progress while it reads either store.
func TestProgressOfComparison(t *testing.T) {
	reports, last := int64(0), int64(0)
	o := transfer.Options{Progress: func(p transfer.Progress) {
		if p.Step != transfer.Comparing {
			return
		}
		if reports++; p.Rows < last {
			t.Errorf("%d rows after %d", p.Rows, last)
		}
		last = p.Rows
	}}
	o.SetPage(1, 1<<20)
	result, err := copyStore(t, filled(t, filled(t, newFile(t))), newFile(t), o)
	must(t, err)
	if reports != 2*result.Rows || last != result.Rows {
		t.Errorf("%d reports, %d rows at the end; want %d and %d", reports, last, 2*result.Rows, result.Rows)
	}
}

// TestSourceWithSecondNameIsNotMarked: the mark would write to a file that another program may use under
// its other name.
func TestSourceWithSecondNameIsNotMarked(t *testing.T) {
	from := filled(t, newFile(t))
	path := string(from.(file))
	must(t, os.Link(path, path+".second"))
	_, err := from.source()
	wantError(t, err, rota.Conflict, "2 names", "--allow-links of rota serve or rota copy")
	for _, config := range []sqlite.TransferConfig{{Keep: true}, {AllowLinks: true}} {
		source, err := sqlite.OpenTransferSource(path, config)
		must(t, err)
		must(t, source.Close())
	}
}
