package mask

// Steps returns how many patterns were compared so far.
func (s *Set) Steps() int64 { return s.steps.Load() }

// Size returns the number of patterns and the bytes of their texts.
func (s *Set) Size() (count, bytes int) {
	x := s.sorted()
	defer s.mu.RUnlock()
	for _, p := range []*patterns{&x.plain, &x.encoded} {
		count += len(p.sorted)
		for i := range p.sorted {
			bytes += len(p.sorted[i].text)
		}
	}
	return count, bytes
}
