//go:build !linux && !darwin

package httpapi

// freeDiskSpace is unknown on this system. A full disk then fails the copy itself.
func freeDiskSpace(string) (free uint64, known bool) { return 0, false }
