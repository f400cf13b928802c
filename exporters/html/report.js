/* The script of the HTML report; CONTRACT.md tells what the pages hold. */
"use strict";
