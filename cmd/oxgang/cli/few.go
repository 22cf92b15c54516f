package cli

import (
	"fmt"
	"strings"
)

// Few lists the first five names, and states how many others there are.
func Few(names []string) string {
	const most = 5
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
