package sqlite_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// runMaintenance runs the maintenance that is due and returns when the next is due. Zero means when
// Wake receives. What an error left undone stays due.
func runMaintenance(ctx context.Context, store rota.Store, now time.Time) (next time.Time, err error) {
	due, err := store.NextDue(ctx)
	if err != nil {
		return next, err
	}
	passed := func(t time.Time) bool { return !t.IsZero() && !t.After(now) }
	var maintenance []rota.Command
	if passed(due.Ready) {
		maintenance = append(maintenance, &rota.Ready{Meta: rota.NewMeta("")})
	}
	if passed(due.Fire) {
		if maintenance, err = addFires(ctx, store, maintenance); err != nil {
			return next, err
		}
	}
	if passed(due.Expire) {
		maintenance = append(maintenance, &rota.Expire{Meta: rota.NewMeta("")})
	}
	if due.Sweep {
		maintenance = append(maintenance, &rota.Sweep{Meta: rota.NewMeta("")})
	}
	if len(maintenance) > 0 {
		results, err := store.Apply(ctx, rota.Batch{Commands: maintenance})
		if err != nil {
			return next, err
		}
		for i, result := range results {
			if result.Err != nil {
				log.Println(maintenance[i].Verb(), result.Err)
			}
		}
		if due, err = store.NextDue(ctx); err != nil {
			return next, err
		}
	}
	return earliest(due, now), nil
}

// addFires adds a Fire for each schedule that is due. A Fire whose schedule has changed creates no
// jobs, and the next call reads the schedule again.
func addFires(ctx context.Context, store rota.Store, maintenance []rota.Command) ([]rota.Command, error) {
	page, err := store.DueSchedules(ctx, rota.PageMax)
	if err != nil {
		return maintenance, err
	}
	for _, schedule := range page.Schedules {
		fire, err := rota.PlanFire(rota.NewMeta(""), schedule, page.Now, time.Time{}) // by the store's clock
		if err != nil {
			log.Println(schedule.Name, err) // such as a time zone that this machine does not know
		} else if fire != nil {
			maintenance = append(maintenance, fire)
		}
	}
	return maintenance, nil
}

func earliest(due rota.Due, now time.Time) (next time.Time) {
	if due.Sweep {
		return now
	}
	for _, t := range []time.Time{due.Ready, due.Fire, due.Expire} {
		if next.IsZero() || !t.IsZero() && t.Before(next) {
			next = t
		}
	}
	return next
}

// prune deletes executions that no longer need to be kept, one page at a time.
func prune(ctx context.Context, store rota.Store, now time.Time) (removed int, err error) {
	for query := (rota.PruneQuery{Retention: rota.DefaultRetention, Now: now}); ; {
		page, err := store.Prunable(ctx, query)
		if err != nil {
			return removed, err
		}
		for rest := page.Executions; len(rest) > 0; {
			pruned, err := rota.Do[*rota.Pruned](ctx, store, &rota.Prune{
				Meta: rota.NewMeta(""), Executions: rest,
			})
			if err != nil {
				return removed, err
			}
			removed += pruned.Executions
			rest = pruned.Rest
		}
		if !page.More {
			return removed, nil
		}
		query.From = page.Next
	}
}

// redrive retries every dead letter of a type.
func redrive(ctx context.Context, store rota.Store, typ string) (count int, err error) {
	for query := (rota.JobQuery{Type: typ, Dead: true}); ; {
		dead, err := store.Jobs(ctx, query)
		if err != nil || len(dead) == 0 {
			return count, err
		}
		for _, job := range dead {
			if _, err := rota.Do[*rota.Redriven](ctx, store, &rota.Redrive{Meta: rota.NewMeta("ada"), JobID: job.ID}); err != nil {
				log.Println(err) // for example: another job holds the unique key now
				continue
			}
			count++
		}
		query.Before = dead[len(dead)-1].ID
	}
}

// direct runs a job at once, without the queue, on a node that it reserves for the run. The error
// code Busy means that another direct run is active or that a limit is reached.
func direct(ctx context.Context, store rota.Store, node string, job rota.NewJob, work func(*rota.Job) rota.FinishItem) error {
	reserved, err := rota.Do[*rota.Reserved](ctx, store, &rota.Reserve{Meta: rota.NewMeta("ada"), Node: node})
	if err != nil {
		return err
	}
	started, err := rota.Do[*rota.Directed](ctx, store, &rota.Direct{
		Meta: rota.NewMeta("ada"), ReservationID: reserved.Reservation.ID, Job: job, Seed: rota.NewToken(), Lease: rota.DefaultLease,
	})
	if err != nil {
		_, _ = rota.Do[*rota.Released](ctx, store, &rota.Release{Meta: rota.NewMeta("ada"), ReservationID: reserved.Reservation.ID})
		return err
	}
	item := work(started.Job) // extend its lease meanwhile, as for any run
	_, err = rota.Do[*rota.Finished](ctx, store, &rota.Finish{Meta: rota.NewMeta(""), Items: []rota.FinishItem{item}})
	return err
}

// A job fails for good, is redriven, and is pruned.
func Example_maintenance() {
	dir, err := os.MkdirTemp("", "rota")
	must(err)
	defer os.RemoveAll(dir)
	now := time.Now()
	store, err := sqlite.OpenWith(filepath.Join(dir, "app.db"), sqlite.Config{Clock: func() time.Time { return now }})
	must(err)
	defer store.Close()
	ctx := context.Background()

	fails := func(job *rota.Job) rota.FinishItem {
		return rota.FinishItem{LeaseRef: job.Lease(), Outcome: rota.OutcomeFailed, Error: "the printer is on fire"}
	}
	must(direct(ctx, store, "worker-1", rota.NewJob{Type: "build"}, fails)) // has no retry, so it becomes a dead letter
	count, err := redrive(ctx, store, "build")
	must(err)
	fmt.Println("redriven", count)
	count, err = redrive(ctx, store, "build")
	must(err)
	fmt.Println("redriven again", count)

	for _, days := range []int{30, 61} {
		now = now.AddDate(0, 0, days)
		count, err = prune(ctx, store, now)
		must(err)
		fmt.Println("pruned", count)
	}
	// Output:
	// redriven 1
	// redriven again 0
	// pruned 0
	// pruned 1
}
