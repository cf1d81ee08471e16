package engine

import "time"

// SetRecordGrace sets how long a store may take to record what was cut off.
func (e *Engine) SetRecordGrace(d time.Duration) { e.recordGrace = d }

// Kind is what an engine calls to run a job of a type.
func (r *Registry) Kind(name string) Handler {
	kinds, err := r.kinds()
	if err != nil {
		panic(err)
	}
	return kinds[name].run
}

// SetReportGrace sets how long the last reports may take.
func (e *Engine) SetReportGrace(d time.Duration) { e.reportGrace = d }

// SetReportMax sets how many reports may wait.
func (e *Engine) SetReportMax(n int) {
	e.reporter.mu.Lock()
	defer e.reporter.mu.Unlock()
	e.reporter.room = n
}
