package main

import (
	"encoding/json"
	"strconv"

	"github.com/rotajobs/rota/api"
)

// progressText formats the progress that a handler reported, which is any JSON: {"percent": 50} and {"done": 3, "total": 8}
// in the usual form, a text as it is, and everything else as JSON.
func progressText(doc json.RawMessage) string {
	var text string
	if json.Unmarshal(doc, &text) == nil {
		return text
	}
	var known struct {
		Percent     *float64 `json:"percent"`
		Done, Total *float64
		Message     string
	}
	suffix := ""
	if json.Unmarshal(doc, &known) == nil && known.Message != "" {
		suffix = " " + known.Message
	}
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	switch {
	case known.Percent != nil:
		return number(*known.Percent) + "%" + suffix
	case known.Done != nil && known.Total != nil:
		return number(*known.Done) + "/" + number(*known.Total) + suffix
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
