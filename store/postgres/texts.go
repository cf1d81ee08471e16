package postgres

import (
	"strconv"
	"sync"

	"github.com/rotajobs/rota/internal/rules"
)

// texts are the statements that are put together as they are needed: one for
// each set of fields that changes. There are a few dozen.
type texts struct {
	mu      sync.Mutex
	updates map[rules.JobField]string
}

func (t *texts) update(fields rules.JobField) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, known := t.updates[fields]
	if !known {
		if t.updates == nil {
			t.updates = map[rules.JobField]string{}
		}
		text = updateText(fields)
		t.updates[fields] = text
	}
	return text
}

func itoa(n int) string { return strconv.Itoa(n) }
