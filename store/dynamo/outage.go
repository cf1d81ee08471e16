package dynamo

import "log/slog"

// outage logs the first of several failures in a row, and that it is over.
type outage struct {
	logger *slog.Logger
	fails  bool
}

func (o *outage) note(err error, failed, recovered string) {
	switch {
	case err != nil && !o.fails:
		o.logger.Warn(failed, "error", err)
	case err == nil && o.fails:
		o.logger.Info(recovered)
	}
	o.fails = err != nil
}
