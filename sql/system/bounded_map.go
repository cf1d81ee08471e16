package system

// boundedMap caches rows of a store by their keys. It forgets all of them when their documents exceed pageBytes.
type boundedMap[K comparable, V any] struct {
	rows    map[K]V
	bytes   int
	largest int // bytes of the largest row so far
}

func (m *boundedMap[K, V]) get(key K) V { return m.rows[key] }

func (m *boundedMap[K, V]) put(key K, row V) {
	size := rowBytes + documentBytes(row)
	if m.rows == nil || m.bytes+size > pageBytes {
		m.rows, m.bytes = map[K]V{}, 0
	}
	m.rows[key] = row
	m.bytes += size
	m.largest = max(m.largest, size)
}

// small reports whether a page of rows is expected to fit.
func (m *boundedMap[K, V]) small() bool { return m.largest*pageMaxFull <= pageBytes }
