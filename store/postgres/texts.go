package postgres

import (
	"strconv"
	"sync"
)

// texts are the statements that are put together as they are needed: one for
// each set of fields that changes, or that new jobs have. There are a few dozen.
type texts struct {
	mu      sync.Mutex
	updates map[updateSet]string
	inserts map[fieldsUsed]string
	copies  map[fieldsUsed]string
}

func (t *texts) update(set updateSet) string   { return textOf(t, &t.updates, set, updateText) }
func (t *texts) insert(used fieldsUsed) string { return textOf(t, &t.inserts, used, insertText) }
func (t *texts) copy(used fieldsUsed) string   { return textOf(t, &t.copies, used, copyText) }

func textOf[K comparable](t *texts, known *map[K]string, key K, write func(K) string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, is := (*known)[key]
	if !is {
		if *known == nil {
			*known = map[K]string{}
		}
		text = write(key)
		(*known)[key] = text
	}
	return text
}

func itoa(n int) string { return strconv.Itoa(n) }
