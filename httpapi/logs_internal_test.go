package httpapi

import (
	"context"
	"io"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/access"
)

// gappedLog is a log whose bytes from a position to another are missing: a reader that arrives there gets a notice.
type gappedLog struct {
	text     string
	from, to int64
	at       int64
	notice   string
}

func (l *gappedLog) Read(p []byte) (int, error) {
	if l.at >= l.from && l.at < l.to {
		l.at, l.notice = l.to, "[notice]\n"
	}
	n := 0
	switch {
	case l.notice != "":
		n = copy(p, l.notice)
		l.notice = l.notice[n:]
	case l.at >= int64(len(l.text)):
		return 0, io.EOF
	default:
		end := int64(len(l.text))
		if l.at < l.from {
			end = l.from
		}
		n = copy(p, l.text[l.at:end])
		l.at += int64(n)
	}
	return n, nil
}

func (l *gappedLog) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		return l.at, nil
	case io.SeekEnd:
		offset += int64(len(l.text))
	}
	l.at, l.notice = offset, ""
	return offset, nil
}

// The last lines of a log with a gap begin at the start of a line or of the notice.
func TestTailOfLogWithGap(t *testing.T) {
	line := "a line of 16 b.\n"
	for _, test := range []struct {
		lines, from, to int // lines of the log and of its gap
		tail            int
		before          int // lines before the notice
		after           int
	}{
		{4, 1, 2, 1, 0, 1},
		{4, 1, 2, 2, 0, 2},
		{4, 1, 2, 3, 1, 2},
		{10_000, 100, 9_000, 1_005, 5, 1_000}, // larger than a block
	} {
		log := &gappedLog{text: strings.Repeat(line, test.lines), from: int64(test.from * len(line)), to: int64(test.to * len(line))}
		if err := seekTail(log, test.tail); err != nil {
			t.Fatal(err)
		}
		want := strings.Repeat(line, test.after)
		if test.tail > 1 {
			want = strings.Repeat(line, test.before) + "[notice]\n" + want
		}
		if text, err := io.ReadAll(log); err != nil || string(text) != want {
			t.Errorf("%+v: %d bytes in %d lines, %v; want %d", test, len(text), strings.Count(string(text), "\n"), err, len(want))
		}
	}
}

// runningJob is a store with one running job. It counts how often the job is read.
type runningJob struct {
	eventlessStore
	reads atomic.Int32
}

func (s *runningJob) Execution(context.Context, rota.ID) ([]*rota.Job, error) {
	s.reads.Add(1)
	return []*rota.Job{{ID: rota.ID{1}, Run: &rota.Run{}}}, nil
}

// signallingLog is an empty log that signals changes.
type signallingLog struct {
	gappedLog
	changed chan struct{}
	reads   atomic.Int32
}

func (l *signallingLog) Read(p []byte) (int, error) {
	l.reads.Add(1)
	return l.gappedLog.Read(p)
}

func (l *signallingLog) Changed() <-chan struct{} { return l.changed }
func (l *signallingLog) Close() error             { return nil }

// A log that signals changes is read when it does. In between, the store is asked once in two seconds.
func TestFollowedLogThatSignalsIsReadRarely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store, log, w := &runningJob{}, &signallingLog{changed: make(chan struct{}, 1)}, httptest.NewRecorder()
		ctx, stop := context.WithCancel(t.Context())
		c := &call{server: &server{Config: Config{Store: store}}, Store: access.NewDirectory(store, nil).Guard(access.Admin()), ctx: ctx, w: w}
		ended := make(chan any)
		go func() {
			defer func() { ended <- recover() }() // the response is aborted
			c.followLog(&rota.Job{ID: rota.ID{1}, Run: &rota.Run{}}, log, -1)
		}()
		time.Sleep(time.Minute)
		synctest.Wait()
		if jobs, logs := store.reads.Load(), log.reads.Load(); jobs > 35 || logs > 35 {
			t.Errorf("in a minute the job was read %d times and the log %d times", jobs, logs)
		}
		log.text = "a line\n"
		log.changed <- struct{}{}
		time.Sleep(logChangeGap)
		synctest.Wait()
		if w.Body.String() != "a line\n" {
			t.Errorf("after a signal the response is %q", w.Body.String())
		}
		stop()
		<-ended
	})
}
