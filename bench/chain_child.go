package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
	"modernc.org/libc"
)

// chainEnv names the file that the process of chainProcess opens.
const chainEnv = "ROTA_BENCH_CHAIN"

const (
	chainBatch     = 100
	chainPrune     = 200
	chainTemplates = 50
)

// chainChild executes the turns that it reads, until the input ends. Each turn begins with an empty log and writes its log back,
// so that it pays for its own pages only.
func chainChild(path string, in io.Reader, out io.Writer) error {
	setGCPercent()
	ctx := context.Background()
	return withStore(path, func(store *sqlite.Store) error {
		if err := growLog(path); err != nil {
			return err
		}
		w, padding := &chainWriter{store: store}, padding{tls: libc.NewTLS()}
		for lines := bufio.NewScanner(in); lines.Scan(); {
			var work string
			var n int
			if _, err := fmt.Sscan(lines.Text(), &work, &n); err != nil {
				return err
			}
			padding.next()
			var used usage
			err := w.turn(ctx, work, n, func(f func() error) error {
				if err := checkpoint(path); err != nil {
					return err
				}
				runtime.GC()
				return used.measure(func() error { return errors.Join(f(), checkpoint(path)) })
			})
			if err != nil {
				return err
			}
			fmt.Fprintln(out, used.processor.Seconds()*1e6/float64(n))
		}
		return nil
	})
}

// padding changes how many allocations of the size of a database page fit into the pages that the allocator of SQLite has, from turn
// to turn. If all are taken, each statement requests a page from the system and returns it, which costs more than the chain. Two
// processes that differ in a few allocations would be compared in different states.
type padding struct {
	tls    *libc.TLS
	turns  int
	blocks []uintptr
}

const (
	paddingSize   = 4096 + 256 // as a page in the cache of SQLite
	paddingStates = 7          // such allocations fit into one page of the allocator
)

func (p *padding) next() {
	for _, block := range p.blocks {
		libc.Xfree(p.tls, block)
	}
	p.blocks = p.blocks[:0]
	for range p.turns % paddingStates {
		p.blocks = append(p.blocks, libc.Xmalloc(p.tls, paddingSize))
	}
	p.turns++
}

// chainWriter sends audited commands.
type chainWriter struct {
	store rota.Store
	count int // commands so far
}

// turn executes n commands. measure executes the part that counts.
func (w *chainWriter) turn(ctx context.Context, work string, n int, measure func(func() error) error) error {
	switch work {
	case "single":
		return measure(func() error { return w.put(ctx, n, 1) })
	case "batch":
		return measure(func() error { return w.put(ctx, n, chainBatch) })
	case "prune":
		executions, err := w.endJobs(ctx, n)
		if err != nil {
			return err
		}
		return measure(func() error { return w.prune(ctx, executions) })
	}
	return fmt.Errorf("unknown work %q", work)
}

// put changes templates, some in each transaction. Each change is an entry.
func (w *chainWriter) put(ctx context.Context, n, size int) error {
	for n > 0 {
		var batch rota.Batch
		for range min(n, size) {
			w.count++
			batch.Commands = append(batch.Commands, &rota.PutTemplate{
				Meta: rota.NewMeta("ada"), Name: fmt.Sprintf("bench-%d", w.count%chainTemplates),
				Spec: rota.TemplateSpec{Type: jobType, Params: fmt.Appendf(nil, `{"text":%q,"n":%d}`, innerText(), w.count)},
			})
		}
		results, err := w.store.Apply(ctx, batch)
		if err != nil {
			return err
		}
		for _, r := range results {
			if r.Err != nil {
				return r.Err
			}
			if !r.Reply.(*rota.TemplatePut).Changed {
				return fmt.Errorf("a template was not changed")
			}
		}
		n -= len(batch.Commands)
	}
	return nil
}

// endJobs creates jobs of an actor, and ends them.
func (w *chainWriter) endJobs(ctx context.Context, n int) (executions []rota.ID, err error) {
	if _, err := apply[*rota.Enqueued](ctx, w.store, &rota.Enqueue{Meta: rota.NewMeta("ada"), Jobs: newJobs(n)}); err != nil {
		return nil, err
	}
	jobs, err := claim(ctx, w.store, n)
	if err != nil {
		return nil, err
	}
	for _, j := range jobs {
		executions = append(executions, j.ExecutionID)
	}
	return executions, finish(ctx, w.store, jobs)
}

// prune deletes executions. Each leaves two entries.
func (w *chainWriter) prune(ctx context.Context, executions []rota.ID) error {
	for len(executions) > 0 {
		some := executions[:min(len(executions), chainPrune)]
		executions = executions[len(some):]
		reply, err := apply[*rota.Pruned](ctx, w.store, &rota.Prune{Meta: rota.NewMeta(""), Executions: some})
		if err == nil && reply.Executions != len(some) {
			err = fmt.Errorf("pruned %d of %d executions", reply.Executions, len(some))
		}
		if err != nil {
			return err
		}
	}
	return nil
}
