//go:build rivals

package main

import _ "github.com/oxgang/oxgang/policy/rivals" // all policies, for comparisons on a cluster
