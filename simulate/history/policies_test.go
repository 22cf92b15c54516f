package history

import _ "github.com/oxgang/oxgang/policy/rivals" // tests name policies
