//go:build race

package walk

// With the race detector, which takes several times as long, a few walks are enough to meet all that runs concurrently.
func init() { *walkSeeds = 6 }
