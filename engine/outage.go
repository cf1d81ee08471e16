package engine

import (
	"log/slog"
	"time"
)

// outage says once that something does not work, and once that it works again,
// however often it is tried in between. It belongs to one goroutine.
type outage struct{ began time.Time }

func (o *outage) failed(log *slog.Logger, text string, args ...any) {
	if o.began.IsZero() {
		o.began = time.Now()
		log.Error(text, args...)
	}
}

func (o *outage) passed(log *slog.Logger, text string) {
	if !o.began.IsZero() {
		log.Info(text, "after", time.Since(o.began).Round(time.Millisecond).String())
		o.began = time.Time{}
	}
}
