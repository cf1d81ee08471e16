package engine

import "time"

// SetRecordGrace sets how long a store may take to record what was cut off.
func (e *Engine) SetRecordGrace(d time.Duration) { e.recordGrace = d }
