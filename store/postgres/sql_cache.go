package postgres

import (
	"strconv"
	"sync"
)

// sqlCache holds generated statements: one for each set of changed fields and of columns of new
// jobs. There are a few dozen.
type sqlCache struct {
	off     bool
	mu      sync.Mutex
	updates map[updateSet]string
	inserts map[fieldsUsed]string
	copies  map[fieldsUsed]string
}

func (t *sqlCache) update(set updateSet) string { return cachedSQL(t, &t.updates, set, updateSQL) }

func (t *sqlCache) insert(used fieldsUsed) string { return cachedSQL(t, &t.inserts, used, insertSQL) }
func (t *sqlCache) copy(used fieldsUsed) string   { return cachedSQL(t, &t.copies, used, copySQL) }

func cachedSQL[K comparable](t *sqlCache, known *map[K]string, key K, write func(K) string) string {
	if t.off {
		return write(key)
	}
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
