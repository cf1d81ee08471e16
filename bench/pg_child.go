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
)

// pgChild works in a database as it is ordered, until nobody orders any more.
func pgChild(url string, orders io.Reader, says io.Writer) error {
	collectRarely()
	workers, err := strconv.Atoi(os.Getenv(pgWorkersEnv))
	if err != nil {
		return fmt.Errorf("%s: %w", pgWorkersEnv, err)
	}
	work, err := time.ParseDuration(os.Getenv(pgWorkEnv))
	if err != nil {
		return fmt.Errorf("%s: %w", pgWorkEnv, err)
	}
	c := &pgRotaCrew{rotaCrew: rotaCrew{workers: workers}}
	if work > 0 {
		c.handler = func(context.Context, benchJob) error {
			time.Sleep(work)
			return nil
		}
	}
	if err := c.openAt(url, fmt.Sprintf("bench-%d", os.Getpid())); err != nil {
		return err
	}
	words := make(chan string, 1024)
	defer close(words)
	go func() {
		for word := range words {
			_, _ = fmt.Fprintln(says, word) // who does not listen has ended this process
		}
	}()
	c.feed.Subscribe(func(events []rota.Event) {
		if n := completed(events); n > 0 {
			words <- strconv.Itoa(n)
		}
	})
	words <- sayReady
	ctx := context.Background()
	for lines := bufio.NewScanner(orders); lines.Scan(); {
		switch lines.Text() {
		case orderWork:
			c.start(ctx)
		case orderRest:
			if err := c.rest(ctx); err != nil {
				return err
			}
			words <- sayResting
		}
	}
	return c.letGo()
}
