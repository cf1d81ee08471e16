package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hibiken/asynq"
)

func asynqApplicant(redis string) applicant {
	return applicant{
		name: "asynq",
		note: "v0.26.0 on a redis-server of this machine, reached by a socket, which keeps all in memory and syncs nothing. " +
			"The processor time and the bytes are without redis-server's",
		open: func(_ context.Context, path string, workers int) (crew, error) {
			server, err := startRedis(redis)
			if err != nil {
				return nil, err
			}
			option := asynq.RedisClientOpt{Network: "unix", Addr: server.socket}
			return &asynqCrew{
				workers: workers, redis: server, option: option,
				client: asynq.NewClient(option), inspector: asynq.NewInspector(option),
			}, nil
		},
	}
}

// asynqCrew is a server of Asynq's with a Redis of its own.
type asynqCrew struct {
	workers   int
	redis     *redisServer
	option    asynq.RedisClientOpt
	client    *asynq.Client
	inspector *asynq.Inspector
	server    *asynq.Server
	ran       tally
	done      int // in the parts before
}

// asynqCallers is how many enqueue at once: there is no call for many jobs.
const asynqCallers = 16

func (c *asynqCrew) fill(ctx context.Context, n int) error {
	errs := make(chan error, asynqCallers)
	var all sync.WaitGroup
	for caller := range asynqCallers {
		all.Go(func() {
			for i := caller; i < n; i += asynqCallers {
				if _, err := c.client.EnqueueContext(ctx, asynq.NewTask(jobType, []byte(paramsText()))); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(errs)
	return <-errs
}

func (c *asynqCrew) work(ctx context.Context, n int) error {
	ran := c.ran.await(n)
	c.server = asynq.NewServer(c.option, asynq.Config{Concurrency: c.workers, LogLevel: asynq.ErrorLevel})
	handler := asynq.HandlerFunc(func(context.Context, *asynq.Task) error { c.ran.add(1); return nil })
	if err := c.server.Start(handler); err != nil {
		return err
	}
	c.done += n
	return settled(ctx, ran, c.done, c.finished)
}

func (c *asynqCrew) finished(context.Context) (int, error) {
	info, err := c.inspector.GetQueueInfo("default")
	if err != nil {
		return 0, err
	}
	return info.ProcessedTotal - info.FailedTotal, nil
}

func (c *asynqCrew) rest(context.Context) error {
	c.server.Shutdown()
	return nil
}

func (c *asynqCrew) close(ctx context.Context, n int) error {
	info, err := c.inspector.GetQueueInfo("default")
	if err == nil && (info.ProcessedTotal != n || info.FailedTotal != 0 || info.Size != 0) {
		err = fmt.Errorf("%d of %d are finished, %d failed, %d are left", info.ProcessedTotal, n, info.FailedTotal, info.Size)
	}
	return errors.Join(err, c.inspector.Close(), c.client.Close(), c.redis.stop())
}
