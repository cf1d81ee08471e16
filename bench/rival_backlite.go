package main

import (
	"context"
	"time"

	"github.com/mikestefanello/backlite"
)

func backliteRival(size int) rival {
	return rival{
		name: "backlite",
		note: "v0.6.0, Client.Add(tasks...).Save(), on " + backliteDriverName,
		open: func(ctx context.Context, path string) (rivalQueue, error) { return openBacklite(ctx, path, size) },
	}
}

func openBacklite(ctx context.Context, path string, size int) (rivalQueue, error) {
	db, err := openSynced(ctx, backliteDriver, path+backliteOptions)
	if err != nil {
		return nil, err
	}
	client, err := backlite.NewClient(backlite.ClientConfig{DB: db, NumWorkers: 1, ReleaseAfter: backliteRelease})
	if err != nil {
		return nil, err
	}
	client.Register(backlite.NewQueue(func(context.Context, backliteTask) error { return nil }))
	if err := client.Install(); err != nil {
		return nil, err
	}
	tasks := make([]backlite.Task, size)
	for i := range tasks {
		tasks[i] = backliteTask{Text: innerText()}
	}
	return &sqlRival{db: db, count: "SELECT count(*) FROM backlite_tasks", batch: func(ctx context.Context) error {
		_, err := client.Add(tasks...).Ctx(ctx).Save()
		return err
	}}, nil
}

// backliteTask is encoded as a JSON object of the same size as the params of all subjects.
type backliteTask struct {
	Text string `json:"text"`
}

func (backliteTask) Config() backlite.QueueConfig {
	return backlite.QueueConfig{Name: jobType, MaxAttempts: 4, Retention: &backlite.Retention{Duration: time.Hour}}
}
