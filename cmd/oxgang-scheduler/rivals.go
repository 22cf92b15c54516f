//go:build rivals

package main

import _ "github.com/oxgang/oxgang/policy/rivals" // for comparisons on a cluster
