package engine

import (
	"log/slog"
	"time"
)

// outageLog logs one line when an operation starts to fail and one when it succeeds
// again, however often it is retried in between. It belongs to one goroutine.
type outageLog struct{ began time.Time }

func (o *outageLog) failed(log *slog.Logger, text string, args ...any) {
	if o.began.IsZero() {
		o.began = time.Now()
		log.Error(text, args...)
	}
}

func (o *outageLog) recovered(log *slog.Logger, text string) {
	if !o.began.IsZero() {
		log.Info(text, "after", time.Since(o.began).Round(time.Millisecond).String())
		o.began = time.Time{}
	}
}
