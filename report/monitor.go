package report

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/getsentry/sentry-go"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/cron"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/internal/scrub"
)

// Limits of Sentry's monitors.
const (
	slugMax      = 50
	runtimeMax   = 28 * 24 * time.Hour
	lateMinutes  = 5 // grace for the start of an execution, which may wait for a worker
	slugHashSize = 6
)

// monitored reports whether a schedule has a monitor. A schedule that fires once has none.
func monitored(s *rota.Schedule) bool { return s != nil && s.Spec.At.IsZero() }

// checkIn returns the check-in of an execution. All its attempts share one check-in.
func checkIn(c engine.CheckIn) *sentry.CheckIn {
	in := &sentry.CheckIn{ID: eventID(c.Job.ExecutionID), MonitorSlug: slug(c.Schedule.Name)}
	switch c.Status {
	case engine.CheckInStarted:
		in.Status = sentry.CheckInStatusInProgress
	case engine.CheckInCompleted:
		in.Status, in.Duration = sentry.CheckInStatusOK, ranFor(c.Job)
	default:
		in.Status, in.Duration = sentry.CheckInStatusError, ranFor(c.Job)
	}
	return in
}

// monitor returns the monitor configuration of a schedule. Each check-in includes it, so
// Sentry creates the monitor at the first check-in and updates it later.
func monitor(c engine.CheckIn) *sentry.MonitorConfig {
	expects := monitorSchedule(c.Schedule)
	if expects == nil {
		return nil
	}
	zone := c.Schedule.Spec.Zone
	if zone == "" {
		zone = "UTC"
	}
	return &sentry.MonitorConfig{
		Schedule: expects, Timezone: zone, CheckInMargin: lateMinutes,
		MaxRuntime: minutes(maxRuntime(c.Job.Policy)), FailureIssueThreshold: 1, RecoveryThreshold: 1,
	}
}

// monitorSchedule returns the timetable in the form that Sentry accepts: in minutes, without H.
func monitorSchedule(s *rota.Schedule) sentry.MonitorSchedule {
	if s.Spec.Cron != "" {
		table, err := cron.Parse(s.Spec.Cron, cron.Config{Zone: s.Spec.Zone, Name: s.Name})
		if err != nil { // a stored schedule is always valid
			return nil
		}
		return sentry.CrontabSchedule(table.Portable())
	}
	switch m := minutes(s.Spec.Every); {
	case m%(24*60) == 0:
		return sentry.IntervalSchedule(m/(24*60), sentry.MonitorScheduleUnitDay)
	case m%60 == 0:
		return sentry.IntervalSchedule(m/60, sentry.MonitorScheduleUnitHour)
	default:
		return sentry.IntervalSchedule(m, sentry.MonitorScheduleUnitMinute)
	}
}

// minutes rounds up, so that Sentry never reports an execution as late too early.
func minutes(d time.Duration) int64 { return max(1, int64((d+time.Minute-1)/time.Minute)) }

// maxRuntime returns how long an execution may take with its retries.
func maxRuntime(p rota.Policy) time.Duration {
	if p.Timeout == 0 {
		return runtimeMax
	}
	total, backoff := p.Timeout, p.Backoff
	for range p.MaxAttempts - 1 {
		if p.BackoffMax > 0 {
			backoff = min(backoff, p.BackoffMax)
		}
		total += min(backoff, runtimeMax) + min(p.Timeout, runtimeMax)
		if total >= runtimeMax {
			return runtimeMax
		}
		backoff = min(2*backoff, runtimeMax)
	}
	return min(total+lateMinutes*time.Minute, runtimeMax)
}

// slug converts the name of a schedule to a valid monitor name. A hash distinguishes names
// that would become equal.
func slug(name string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, strings.ToLower(name))
	if plain == name && len(plain) <= slugMax && strings.Trim(plain, "0123456789") != "" {
		return plain
	}
	sum := sha256.Sum256([]byte(name))
	plain = strings.Trim(plain[:min(len(plain), slugMax-slugHashSize-1)], "-")
	return cmp.Or(plain, "schedule") + "-" + hex.EncodeToString(sum[:slugHashSize/2])
}

// missed returns the event of times that catch-up dropped. Sentry detects a missed check-in
// by itself; the event states the reason.
func missed(c engine.CheckIn) *sentry.Event {
	s := c.Schedule
	event := sentry.NewEvent()
	sum := sha256.Sum256([]byte(strings.Join([]string{s.Name, c.Missed, s.LastFire.UTC().String(), s.NextFire.UTC().String()}, "\x00")))
	event.EventID = sentry.EventID(hex.EncodeToString(sum[:16]))
	event.Timestamp = time.Now()
	event.Level = sentry.LevelWarning
	event.Logger = "rota"
	event.Transaction = s.Name
	event.Message = "the schedule " + s.Name + " missed times: " + scrub.Text(c.Missed)
	event.Fingerprint = []string{"rota.schedule.missed", s.Name}
	event.Tags = map[string]string{"schedule": cut(s.Name, tagMax), "template": cut(s.Spec.Template, tagMax)}
	event.Contexts["schedule"] = scheduleContext(s)
	return event
}

func scheduleContext(s *rota.Schedule) sentry.Context {
	facts := sentry.Context{"name": s.Name, "state": string(s.State), "catch_up": string(s.Spec.CatchUp)}
	if s.Spec.Cron != "" {
		facts["cron"], facts["timezone"] = s.Spec.Cron, s.Spec.Zone
	}
	if s.Spec.Every > 0 {
		facts["every"] = s.Spec.Every.String()
	}
	for name, at := range map[string]time.Time{"at": s.Spec.At, "last_fire": s.LastFire, "next_fire": s.NextFire} {
		if !at.IsZero() {
			facts[name] = at.UTC().Format(time.RFC3339Nano)
		}
	}
	return facts
}
