package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres"
)

// pgChild runs the workers of a database by the commands it reads, until the input ends.
func pgChild(url string, commands io.Reader, output io.Writer) error {
	setGCPercent()
	workers, err := strconv.Atoi(os.Getenv(pgWorkersEnv))
	if err != nil {
		return fmt.Errorf("%s: %w", pgWorkersEnv, err)
	}
	work, err := time.ParseDuration(os.Getenv(pgWorkEnv))
	if err != nil {
		return fmt.Errorf("%s: %w", pgWorkEnv, err)
	}
	store, known := pgWarnOnly, false
	if store.Disable, known = postgres.ParseFastPath(os.Getenv(pgDisableEnv)); !known {
		return fmt.Errorf("%s is %q", pgDisableEnv, os.Getenv(pgDisableEnv))
	}
	c := &pgRotaPool{rotaPool: rotaPool{workers: workers}}
	if work > 0 {
		c.handler = func(context.Context, benchJob) error {
			time.Sleep(work)
			return nil
		}
	}
	if err := c.openAt(url, store, fmt.Sprintf("bench-%d", os.Getpid())); err != nil {
		return err
	}
	messages := make(chan string, 1024)
	defer close(messages)
	go func() {
		for message := range messages {
			_, _ = fmt.Fprintln(output, message) // the parent has ended if the pipe is closed
		}
	}()
	c.events.Subscribe(func(events []rota.Event) {
		if n := completed(events); n > 0 {
			messages <- strconv.Itoa(n)
		}
	})
	messages <- messageReady
	ctx := context.Background()
	for lines := bufio.NewScanner(commands); lines.Scan(); {
		switch lines.Text() {
		case commandWork:
			c.start(ctx)
		case commandStop:
			if err := c.stopWorkers(ctx); err != nil {
				return err
			}
			messages <- messageStopped
		}
	}
	return c.closeStore()
}
