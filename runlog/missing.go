package runlog

import (
	"strings"

	"github.com/rotajobs/rota"
)

// missing returns why the text of a run cannot be known, nil if the run has written nothing so far. It
// is called for a run without stored text.
func (c *Config) missing(job *rota.Job, ownPath string) error {
	run := job.Run
	expired := c.Clock().Sub(run.StartedAt) > c.Keep
	switch {
	case run.Open():
		return nil
	case run.LogPath == "" && run.ErrorCode != rota.CodeLeaseExpired:
		return nil // its process recorded that it wrote nothing
	case expired:
		return noLog(job, "logs are kept for "+formatDuration(c.Keep))
	case run.LogPath == "":
		return nil
	case run.LogPath != ownPath:
		return noLog(job, "its log is "+clean(run.LogPath)+" at the process that ran it, "+clean(run.Runner))
	}
	return noLog(job, "it was removed, or could not be stored")
}

// clean makes stored text safe for a message of one line.
func clean(stored string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, stored)
}

func noLog(job *rota.Job, reason string) error {
	return &rota.Error{Code: rota.NotFound, Act: "log of job " + job.ID.String(), Reason: "the log of job " + job.ID.String() + " is not available: " + reason}
}
