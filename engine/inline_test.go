package engine_test

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/engine"
)

// Handlers that have been short run one after the other. One that becomes slow delays no
// other, nor does one that ends its goroutine.
func TestSlowJobAmongInlineJobsDelaysNoOther(t *testing.T) {
	for name, leave := range map[string]func(){
		"waits for all others": func() {},
		"ends its goroutine":   runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			const workers = 16
			var slow atomic.Bool
			var others sync.WaitGroup
			first := make(chan struct{}, 1)
			h.start(registry(func(context.Context, *rota.Job) error {
				if !slow.Load() {
					return nil
				}
				select {
				case first <- struct{}{}:
					others.Wait() // they wait behind this run, unless the dispatcher hands them off
					leave()
				default:
					others.Done()
				}
				return nil
			}), engine.Config{Workers: workers})
			for range 20 {
				h.awaitAllEnded(h.add(make([]rota.NewJob, workers)...))
			}
			slow.Store(true)
			others.Add(workers - 1)
			jobs := make([]rota.NewJob, workers)
			for i := range jobs {
				jobs[i].MaxRetries = new(0)
			}
			h.awaitAllEnded(h.add(jobs...))
		})
	}
}

func (h *harness) awaitAllEnded(ids []rota.ID) {
	h.Helper()
	for _, id := range ids {
		h.awaitEnded(id)
	}
}
