package main

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/rotajobs/rota/api"
)

// progressText formats the progress that a handler reported, which is any JSON: {"percent": 50}, {"done": 3, "total": 8} and
// {"done": 17, "of": 100} in the usual form, a text as it is, and everything else as JSON.
func progressText(doc json.RawMessage) string {
	var text string
	if json.Unmarshal(doc, &text) == nil {
		return text
	}
	var known struct{ Percent, Done, Total, Of, Message any } // any: a member of another type is not an error
	if json.Unmarshal(doc, &known) != nil {
		return nonNull(doc)
	}
	suffix := ""
	if message, is := known.Message.(string); is && message != "" {
		suffix = " " + message
	}
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	done, hasDone := known.Done.(float64)
	total, hasTotal := known.Total.(float64)
	of, _ := known.Of.(float64)
	switch percent := known.Percent.(type) {
	case float64:
		return number(percent) + "%" + suffix
	case string:
		return percent + suffix
	}
	switch {
	case hasDone && hasTotal:
		return number(done) + "/" + number(total) + suffix
	case hasDone && of > 0:
		return number(math.Floor(done*100/of)) + "%" + suffix // 100% only if all is done
	}
	return nonNull(doc)
}

// progressMax is the width of progress in a list.
const progressMax = 24

// jobProgress is the progress of the run of a job.
func jobProgress(j api.Job) string {
	if j.Run == nil {
		return ""
	}
	return progressText(j.Run.Progress)
}
