package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/hibiken/asynq"
)

func asynqContender(redis string) contender {
	return contender{
		name: "asynq",
		note: "v0.26.0 on a local redis-server, over a socket, which stores everything in memory and syncs nothing. " +
			"The processor time and the bytes do not include redis-server",
		open: func(_ context.Context, path string, workers int) (workerPool, error) {
			server, err := startRedis(redis)
			if err != nil {
				return nil, err
			}
			option := asynq.RedisClientOpt{Network: "unix", Addr: server.socket}
			return &asynqPool{
				workers: workers, redis: server, option: option,
				client: asynq.NewClient(option), inspector: asynq.NewInspector(option),
			}, nil
		},
	}
}

// asynqPool is an Asynq server with a Redis of its own.
type asynqPool struct {
	workers   int
	redis     *redisServer
	option    asynq.RedisClientOpt
	client    *asynq.Client
	inspector *asynq.Inspector
	server    *asynq.Server
	ran       counter
	done      int // jobs finished in earlier parts
}

// asynqCallers is the number of concurrent callers that enqueue: Asynq has no call for many jobs.
const asynqCallers = 16

func (c *asynqPool) fill(ctx context.Context, n int) error {
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

func (c *asynqPool) work(ctx context.Context, n int) error {
	ran := c.ran.await(n)
	c.server = asynq.NewServer(c.option, asynq.Config{Concurrency: c.workers, LogLevel: asynq.ErrorLevel})
	handler := asynq.HandlerFunc(func(context.Context, *asynq.Task) error { c.ran.add(1); return nil })
	if err := c.server.Start(handler); err != nil {
		return err
	}
	c.done += n
	return awaitFinished(ctx, ran, c.done, c.finished)
}

func (c *asynqPool) finished(context.Context) (int, error) {
	info, err := c.inspector.GetQueueInfo("default")
	if err != nil {
		return 0, err
	}
	return info.ProcessedTotal - info.FailedTotal, nil
}

func (c *asynqPool) stopWorkers(context.Context) error {
	c.server.Shutdown()
	return nil
}

func (c *asynqPool) close(ctx context.Context, n int) error {
	info, err := c.inspector.GetQueueInfo("default")
	if err == nil && (info.ProcessedTotal != n || info.FailedTotal != 0 || info.Size != 0) {
		err = fmt.Errorf("%d of %d are finished, %d failed, %d are left", info.ProcessedTotal, n, info.FailedTotal, info.Size)
	}
	return errors.Join(err, c.inspector.Close(), c.client.Close(), c.redis.stop())
}
