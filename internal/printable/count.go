package printable

import "fmt"

// Count returns a number of things as text: "1 GPU", "2 GPUs".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
